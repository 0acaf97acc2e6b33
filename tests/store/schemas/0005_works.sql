BEGIN TRANSACTION;
CREATE TABLE "flow_contributions" (
   "session_id" TEXT PRIMARY KEY,
   "project" TEXT,
   "work" TEXT,
   "role" TEXT,
   "last_activity_at" REAL,
   "body" TEXT
);
ALTER TABLE "flow_handoffs" ADD COLUMN "work" TEXT;
ALTER TABLE "flow_handoffs" ADD COLUMN "origin" TEXT;
INSERT INTO "flow_migrations" VALUES(5,'flowd','0005_works','2026-01-01 00:00:00.000000+00:00');
CREATE TABLE "flow_works" (
   "id" TEXT PRIMARY KEY,
   "project" TEXT,
   "repository" TEXT,
   "goal" TEXT,
   "status" TEXT,
   "touched_at" REAL,
   "body" TEXT
);
CREATE INDEX "idx_flow_works_project_touched_at"
    ON "flow_works" ("project", "touched_at");
CREATE INDEX "idx_flow_works_repository"
    ON "flow_works" ("repository");
CREATE INDEX "idx_flow_contributions_project"
    ON "flow_contributions" ("project");
COMMIT;
