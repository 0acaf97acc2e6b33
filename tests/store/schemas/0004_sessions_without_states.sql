BEGIN TRANSACTION;
INSERT INTO "flow_migrations" VALUES(4,'flowd','0004_sessions_without_states','2026-01-01 00:00:00.000000+00:00');
DROP TABLE "flow_sessions";
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
UPDATE "flow_sinks" SET "cursor" = 0 WHERE "name" = 'core_db';
CREATE INDEX "idx_flow_sessions_project_last_activity_at"
    ON "flow_sessions" ("project", "last_activity_at");
CREATE INDEX "idx_flow_sessions_repository"
    ON "flow_sessions" ("repository");
COMMIT;
