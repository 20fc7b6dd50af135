-- Ingest looks up the approval that a call used, and an export those of its calls.
-- tests: control-plane/src/ingest/record-disputes.pg.test.ts
CREATE INDEX escalations_by_grant ON escalations (tenant_id, grant_id) WHERE grant_id IS NOT NULL;
