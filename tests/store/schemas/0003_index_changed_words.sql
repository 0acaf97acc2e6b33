BEGIN TRANSACTION;
DROP TRIGGER "flow_nodes_au";
INSERT INTO "flow_migrations" VALUES(3,'flowd','0003_index_changed_words','2026-01-01 00:00:00.000000+00:00');
CREATE TRIGGER flow_nodes_au after update on flow_nodes when old."summary" is not new."summary" or old."detail" is not new."detail" or old."tags" is not new."tags" or old."file" is not new."file" or old."facets" is not new."facets" begin
            insert into flow_nodes_fts (flow_nodes_fts, rowid, "summary", "detail", "tags", "file", "facets") values ('delete', old.rowid, old."summary", old."detail", old."tags", old."file", old."facets");
            insert into flow_nodes_fts (rowid, "summary", "detail", "tags", "file", "facets") values (new.rowid, new."summary", new."detail", new."tags", new."file", new."facets");
        end;
COMMIT;
