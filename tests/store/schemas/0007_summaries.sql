BEGIN TRANSACTION;
CREATE TABLE "flow_consents" (
   "id" INTEGER PRIMARY KEY,
   "at" REAL,
   "engine" TEXT
);
INSERT INTO "flow_migrations" VALUES(7,'flowd','0007_summaries','2026-01-02 00:00:00.000000+00:00');
CREATE TABLE "flow_summaries" (
   "id" INTEGER PRIMARY KEY,
   "digest" TEXT NOT NULL,
   "work" TEXT NOT NULL,
   "session_id" TEXT,
   "moment" TEXT,
   "at" REAL NOT NULL,
   "state" TEXT NOT NULL,
   "tokens" INTEGER NOT NULL,
   "usd" REAL NOT NULL,
   "model" TEXT,
   "error" TEXT,
   "progress" INTEGER,
   "body" TEXT
);
CREATE UNIQUE INDEX "idx_flow_summaries_digest"
    ON "flow_summaries" ("digest");
CREATE INDEX "idx_flow_summaries_work_at"
    ON "flow_summaries" ("work", "at");
CREATE INDEX "idx_flow_summaries_at"
    ON "flow_summaries" ("at");
COMMIT;
