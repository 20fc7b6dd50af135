-- What is usual in a workflow, learned from its completed sessions, and which sessions were compared.
-- tests: control-plane/src/platform/row-level-security.pg.test.ts
CREATE TABLE workflow_baselines (
  tenant_id uuid NOT NULL,
  workflow_id uuid NOT NULL,
  sessions integer NOT NULL,
  duration_seconds double precision NOT NULL,
  max_depth double precision NOT NULL,
  -- {"server/tool": its part of the calls}
  tools jsonb NOT NULL,
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, workflow_id),
  FOREIGN KEY (tenant_id, workflow_id) REFERENCES workflows (tenant_id, id)
);
ALTER TABLE workflow_baselines ENABLE ROW LEVEL SECURITY;
ALTER TABLE workflow_baselines FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON workflow_baselines
  USING (tenant_id = app_current_tenant()) WITH CHECK (tenant_id = app_current_tenant());
GRANT SELECT, INSERT, UPDATE ON workflow_baselines TO governance_app;

ALTER TABLE workflow_sessions ADD COLUMN compared_at timestamptz(3);
CREATE INDEX workflow_sessions_uncompared_idx ON workflow_sessions (tenant_id, completed_at)
  WHERE status = 'completed' AND compared_at IS NULL;
