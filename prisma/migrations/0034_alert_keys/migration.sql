-- A resolved alert keeps its key, so that its cause raises no other one after it was reopened. The
-- constraint's name was PostgreSQL's. Alerts that were resolved before have lost their keys.
-- tests: control-plane/src/alerts/alert-routes.pg.test.ts
ALTER TABLE alerts DROP CONSTRAINT alerts_tenant_id_dedupe_key_key;
CREATE UNIQUE INDEX alerts_tenant_id_dedupe_key_key ON alerts (tenant_id, dedupe_key)
  WHERE status <> 'resolved';
