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
CREATE TABLE "flow_contributions" (
   "session_id" TEXT PRIMARY KEY,
   "project" TEXT,
   "work" TEXT,
   "role" TEXT,
   "last_activity_at" REAL,
   "body" TEXT
);
CREATE TABLE "flow_counters" (
   "name" TEXT PRIMARY KEY,
   "value" INTEGER
);
CREATE TABLE "flow_edges" (
   "project" TEXT,
   "from_id" TEXT,
   "to_id" TEXT,
   "kind" TEXT,
   "source" TEXT,
   PRIMARY KEY ("project", "from_id", "to_id", "kind", "source")
);
CREATE TABLE flow_facts (
            seq integer primary key autoincrement,
            key text not null unique,
            kind text not null,
            session_id text not null,
            project text not null,
            at real not null,
            body text not null
        );
INSERT INTO "flow_facts" VALUES(1,'state:s1','state','s1','/p',0.0,'{"type":"state","state":{"session_id":"s1","project":"/p","title":"T"}}');
CREATE TABLE "flow_forgotten" (
   "project" TEXT,
   "id" TEXT,
   "at" REAL,
   PRIMARY KEY ("project", "id")
);
CREATE TABLE "flow_handoffs" (
   "project" TEXT PRIMARY KEY,
   "session_id" TEXT,
   "last_activity_at" REAL,
   "written" TEXT,
   "folder" TEXT
, "work" TEXT);
CREATE TABLE "flow_idle" (
   "session_id" TEXT PRIMARY KEY,
   "project" TEXT,
   "last_activity_at" REAL,
   "told_at" REAL
);
CREATE TABLE "flow_memories" (
   "session_id" TEXT PRIMARY KEY,
   "body" BLOB,
   "updated_at" REAL
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
CREATE TABLE "flow_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
);
INSERT INTO "flow_migrations" VALUES(1,'flowd','0001_journal_and_threads','2026-01-01 00:00:00.000000+00:00');
INSERT INTO "flow_migrations" VALUES(2,'flowd','0002_knowledge','2026-01-01 00:00:00.000000+00:00');
INSERT INTO "flow_migrations" VALUES(3,'flowd','0003_index_changed_words','2026-01-01 00:00:00.000000+00:00');
INSERT INTO "flow_migrations" VALUES(4,'flowd','0004_sessions_without_states','2026-01-01 00:00:00.000000+00:00');
INSERT INTO "flow_migrations" VALUES(5,'flowd','0005_works','2026-11-18 17:54:47.483208+00:00');
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
CREATE TABLE "flow_quarantine" (
   "sink" TEXT,
   "key" TEXT,
   "seq" INTEGER,
   "body" TEXT,
   "error" TEXT,
   "tries" INTEGER,
   "since" REAL,
   PRIMARY KEY ("sink", "key")
);
CREATE TABLE "flow_sessions" (
   "session_id" TEXT PRIMARY KEY,
   "project" TEXT,
   "repository" TEXT,
   "worktree" TEXT,
   "branch" TEXT,
   "title" TEXT,
   "client" TEXT,
   "started_at" REAL,
   "last_activity_at" REAL,
   "ended_at" REAL,
   "compacted_at" REAL,
   "compactions" INTEGER,
   "vanished_at" REAL,
   "seq" INTEGER
);
CREATE TABLE "flow_sinks" (
   "name" TEXT PRIMARY KEY,
   "cursor" INTEGER NOT NULL,
   "delivered" INTEGER NOT NULL,
   "last_success_at" REAL,
   "last_error" TEXT,
   "last_error_at" REAL
);
INSERT INTO "flow_sinks" VALUES('core_db',0,1,NULL,NULL,NULL);
CREATE TABLE "flow_sources" (
   "id" INTEGER PRIMARY KEY,
   "device" INTEGER NOT NULL,
   "inode" INTEGER NOT NULL,
   "fingerprint" TEXT NOT NULL,
   "generation" INTEGER,
   "path" TEXT NOT NULL,
   "session_id" TEXT,
   "is_subagent" INTEGER,
   "offset" INTEGER NOT NULL,
   "lines" INTEGER,
   "records" INTEGER,
   "tail" BLOB,
   "size" INTEGER,
   "mtime_ns" INTEGER,
   "state" TEXT NOT NULL,
   "first_seen_at" REAL,
   "last_read_at" REAL
);
INSERT INTO "flow_sources" VALUES(1,1,2,'f',0,'/t.jsonl','s1',0,10,1,1,X'00',10,5,'live',1.0,1.0);
CREATE TABLE "flow_works" (
   "id" TEXT PRIMARY KEY,
   "project" TEXT,
   "repository" TEXT,
   "goal" TEXT,
   "status" TEXT,
   "touched_at" REAL,
   "body" TEXT
);
CREATE TABLE handoff_entries (
            seq integer primary key autoincrement,
            handoff_id text not null references handoffs(id),
            from_client text not null,
            type text not null,
            content text not null,
            created_at text default (datetime('now'))
        );
INSERT INTO "handoff_entries" VALUES(1,'hof_aaaaaaaaaaaaaaaaaaaaa','chat','context','Hello','2026-01-01 00:00:00');
CREATE TABLE handoffs (
            id text primary key,
            title text not null,
            project text,
            chat_last_seen integer default 0,
            code_last_seen integer default 0,
            status text default 'active',
            created_at text default (datetime('now')),
            updated_at text
        );
INSERT INTO "handoffs" VALUES('hof_aaaaaaaaaaaaaaaaaaaaa','A thread',NULL,1,0,'active','2026-01-01 00:00:00',NULL);
CREATE UNIQUE INDEX "idx_flow_migrations_migration_set_name"
    ON "flow_migrations" ("migration_set", "name");
CREATE INDEX "idx_flow_sources_path"
    ON "flow_sources" ("path");
CREATE INDEX "idx_flow_facts_session_id_kind"
    ON "flow_facts" ("session_id", "kind");
CREATE INDEX "idx_flow_facts_kind_at"
    ON "flow_facts" ("kind", "at");
CREATE INDEX idx_handoff_entries_handoff on handoff_entries(handoff_id);
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
CREATE INDEX "idx_flow_edges_project_to_id"
    ON "flow_edges" ("project", "to_id");
CREATE INDEX "idx_flow_edges_source"
    ON "flow_edges" ("source");
CREATE INDEX "idx_flow_context_map_source"
    ON "flow_context_map" ("source");
CREATE INDEX "idx_flow_blockers_project_state"
    ON "flow_blockers" ("project", "state");
CREATE INDEX "idx_flow_sessions_project_last_activity_at"
    ON "flow_sessions" ("project", "last_activity_at");
CREATE INDEX "idx_flow_sessions_repository"
    ON "flow_sessions" ("repository");
CREATE TRIGGER flow_nodes_au after update on flow_nodes when old."summary" is not new."summary" or old."detail" is not new."detail" or old."tags" is not new."tags" or old."file" is not new."file" or old."facets" is not new."facets" begin
            insert into flow_nodes_fts (flow_nodes_fts, rowid, "summary", "detail", "tags", "file", "facets") values ('delete', old.rowid, old."summary", old."detail", old."tags", old."file", old."facets");
            insert into flow_nodes_fts (rowid, "summary", "detail", "tags", "file", "facets") values (new.rowid, new."summary", new."detail", new."tags", new."file", new."facets");
        end;
CREATE INDEX "idx_flow_works_project_touched_at"
    ON "flow_works" ("project", "touched_at");
CREATE INDEX "idx_flow_works_repository"
    ON "flow_works" ("repository");
CREATE INDEX "idx_flow_contributions_project"
    ON "flow_contributions" ("project");
PRAGMA writable_schema=OFF;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('flow_facts',1);
INSERT INTO "sqlite_sequence" VALUES('handoff_entries',1);
COMMIT;
