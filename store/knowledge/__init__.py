"""The knowledge graph in core.db: nodes, mentions, edges, search, export and import."""
