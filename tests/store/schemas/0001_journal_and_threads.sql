BEGIN TRANSACTION;
CREATE TABLE "flow_counters" (
   "name" TEXT PRIMARY KEY,
   "value" INTEGER
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
CREATE TABLE "flow_handoffs" (
   "project" TEXT PRIMARY KEY,
   "session_id" TEXT,
   "last_activity_at" REAL,
   "written" TEXT,
   "folder" TEXT
);
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
CREATE TABLE "flow_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
);
INSERT INTO "flow_migrations" VALUES(1,'flowd','0001_journal_and_threads','2026-01-01 00:00:00.000000+00:00');
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
   "state" TEXT,
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
INSERT INTO "flow_sinks" VALUES('core_db',1,1,NULL,NULL,NULL);
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
CREATE INDEX "idx_flow_sessions_project_last_activity_at"
    ON "flow_sessions" ("project", "last_activity_at");
CREATE INDEX idx_handoff_entries_handoff on handoff_entries(handoff_id);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('flow_facts',1);
INSERT INTO "sqlite_sequence" VALUES('handoff_entries',1);
COMMIT;
