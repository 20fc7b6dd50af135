-- What data planes report is held against what they may report.
-- tests: control-plane/src/platform/row-level-security.pg.test.ts

-- `forbidden`: a record that can be read and that its writer may not write.
ALTER TABLE ledger_quarantine DROP CONSTRAINT ledger_quarantine_kind_check;
ALTER TABLE ledger_quarantine ADD CONSTRAINT ledger_quarantine_kind_check
  CHECK (kind IN ('fork', 'unreadable', 'forbidden'));

-- The stream whose record raised an alert: what one data plane may have open is bounded.
ALTER TABLE alerts ADD COLUMN stream uuid;
CREATE INDEX alerts_stream_idx ON alerts (tenant_id, stream, severity)
  WHERE stream IS NOT NULL AND status <> 'resolved';

-- When an alert said that a data plane's stream has stopped; null again once it runs.
ALTER TABLE data_planes ADD COLUMN stream_stopped_at timestamptz(3);

-- Heartbeats under a root's token for data planes that never registered: shown, and nothing else.
CREATE TABLE unregistered_planes (
  tenant_id uuid NOT NULL REFERENCES tenants (id),
  deployment_id text NOT NULL CHECK (char_length(deployment_id) <= 200),
  token_id uuid NOT NULL,
  first_heartbeat_at timestamptz(3) NOT NULL,
  last_heartbeat_at timestamptz(3) NOT NULL,
  last_heartbeat text NOT NULL,
  PRIMARY KEY (tenant_id, deployment_id)
);
CREATE INDEX unregistered_planes_heard_idx ON unregistered_planes (tenant_id, last_heartbeat_at);
ALTER TABLE unregistered_planes ENABLE ROW LEVEL SECURITY;
ALTER TABLE unregistered_planes FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON unregistered_planes
  USING (tenant_id = app_current_tenant()) WITH CHECK (tenant_id = app_current_tenant());
GRANT SELECT, INSERT, UPDATE, DELETE ON unregistered_planes TO governance_app;
