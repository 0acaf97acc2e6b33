BEGIN TRANSACTION;
CREATE TABLE "flow_blockers" (
   "project" TEXT,
   "task_key" TEXT,
   "id" TEXT,
   "blocker" TEXT,
   "impact" TEXT,
   "suggested_resolution" TEXT,
   "blocking_tasks" TEXT,
   "state" TEXT,
   "since" REAL,
   "resolved_at" REAL,
   PRIMARY KEY ("project", "task_key", "id")
);
CREATE TABLE "flow_blocks" (
   "number" INTEGER PRIMARY KEY,
   "project" TEXT NOT NULL,
   "identity" TEXT NOT NULL,
   "digest" TEXT NOT NULL,
   "task_key" TEXT NOT NULL,
   "task_id" TEXT,
   "task_name" TEXT,
   "outcome" TEXT,
   "body" TEXT,
   "raw" TEXT,
   "violations" TEXT,
   "session_id" TEXT,
   "file" TEXT,
   "line" INTEGER,
   "at" REAL NOT NULL
);
CREATE TABLE "flow_context_map" (
   "project" TEXT,
   "location" TEXT,
   "component" TEXT,
   "notes" TEXT,
   "task_key" TEXT,
   "source" TEXT,
   "at" REAL,
   PRIMARY KEY ("project", "location")
);
CREATE TABLE "flow_edges" (
   "project" TEXT,
   "from_id" TEXT,
   "to_id" TEXT,
   "kind" TEXT,
   "source" TEXT,
   PRIMARY KEY ("project", "from_id", "to_id", "kind", "source")
);
CREATE TABLE "flow_forgotten" (
   "project" TEXT,
   "id" TEXT,
   "at" REAL,
   PRIMARY KEY ("project", "id")
);
CREATE TABLE "flow_mentions" (
   "project" TEXT,
   "node" TEXT,
   "source" TEXT,
   "type" TEXT,
   "summary" TEXT,
   "detail" TEXT,
   "tags" TEXT,
   "location" TEXT,
   "severity" TEXT,
   "status" TEXT,
   "given_id" TEXT,
   "weight" REAL,
   "session_id" TEXT,
   "record" TEXT,
   "file" TEXT,
   "line" INTEGER,
   "at" REAL,
   PRIMARY KEY ("project", "node", "source")
);
INSERT INTO "flow_migrations" VALUES(2,'flowd','0002_knowledge','2026-01-01 00:00:00.000000+00:00');
CREATE TABLE "flow_nodes" (
   "number" INTEGER PRIMARY KEY,
   "project" TEXT NOT NULL,
   "id" TEXT NOT NULL,
   "type" TEXT NOT NULL,
   "summary" TEXT NOT NULL,
   "detail" TEXT,
   "tags" TEXT,
   "file" TEXT,
   "severity" TEXT,
   "status" TEXT,
   "given_id" TEXT,
   "weight" REAL,
   "mentions" INTEGER DEFAULT 0,
   "pinned" INTEGER DEFAULT 0,
   "created_at" REAL,
   "seen_at" REAL,
   "facets" TEXT NOT NULL
);
PRAGMA writable_schema=ON;
INSERT INTO sqlite_master(type,name,tbl_name,rootpage,sql)VALUES('table','flow_nodes_fts','flow_nodes_fts',0,'CREATE VIRTUAL TABLE "flow_nodes_fts" USING FTS5 (
    "summary", "detail", "tags", "file", "facets",
    tokenize=''porter unicode61'',
    content="flow_nodes"
)');
CREATE TABLE 'flow_nodes_fts_config'(k PRIMARY KEY, v) WITHOUT ROWID;
INSERT INTO "flow_nodes_fts_config" VALUES('version',4);
CREATE TABLE 'flow_nodes_fts_data'(id INTEGER PRIMARY KEY, block BLOB);
INSERT INTO "flow_nodes_fts_data" VALUES(1,X'');
INSERT INTO "flow_nodes_fts_data" VALUES(10,X'00000000000000');
CREATE TABLE 'flow_nodes_fts_docsize'(id INTEGER PRIMARY KEY, sz BLOB);
CREATE TABLE 'flow_nodes_fts_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;
CREATE UNIQUE INDEX "idx_flow_blocks_project_identity"
    ON "flow_blocks" ("project", "identity");
CREATE INDEX "idx_flow_blocks_project_digest"
    ON "flow_blocks" ("project", "digest");
CREATE INDEX "idx_flow_blocks_project_task_key_at"
    ON "flow_blocks" ("project", "task_key", "at");
CREATE INDEX "idx_flow_mentions_source"
    ON "flow_mentions" ("source");
CREATE UNIQUE INDEX "idx_flow_nodes_project_id"
    ON "flow_nodes" ("project", "id");
CREATE INDEX "idx_flow_nodes_id"
    ON "flow_nodes" ("id");
CREATE INDEX "idx_flow_nodes_given_id"
    ON "flow_nodes" ("given_id");
CREATE INDEX "idx_flow_nodes_project_type_severity_seen_at"
    ON "flow_nodes" ("project", "type", "severity", "seen_at");
CREATE TRIGGER "flow_nodes_ai" AFTER INSERT ON "flow_nodes" BEGIN
  INSERT INTO "flow_nodes_fts" (rowid, "summary", "detail", "tags", "file", "facets") VALUES (new.rowid, new."summary", new."detail", new."tags", new."file", new."facets");
END;
CREATE TRIGGER "flow_nodes_ad" AFTER DELETE ON "flow_nodes" BEGIN
  INSERT INTO "flow_nodes_fts" ("flow_nodes_fts", rowid, "summary", "detail", "tags", "file", "facets") VALUES('delete', old.rowid, old."summary", old."detail", old."tags", old."file", old."facets");
END;
CREATE TRIGGER "flow_nodes_au" AFTER UPDATE ON "flow_nodes" BEGIN
  INSERT INTO "flow_nodes_fts" ("flow_nodes_fts", rowid, "summary", "detail", "tags", "file", "facets") VALUES('delete', old.rowid, old."summary", old."detail", old."tags", old."file", old."facets");
  INSERT INTO "flow_nodes_fts" (rowid, "summary", "detail", "tags", "file", "facets") VALUES (new.rowid, new."summary", new."detail", new."tags", new."file", new."facets");
END;
CREATE INDEX "idx_flow_edges_project_to_id"
    ON "flow_edges" ("project", "to_id");
CREATE INDEX "idx_flow_edges_source"
    ON "flow_edges" ("source");
CREATE INDEX "idx_flow_context_map_source"
    ON "flow_context_map" ("source");
CREATE INDEX "idx_flow_blockers_project_state"
    ON "flow_blockers" ("project", "state");
PRAGMA writable_schema=OFF;
COMMIT;
