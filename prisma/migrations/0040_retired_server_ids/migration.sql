-- The ids of deleted servers: a permission that names one covers no tool of another server that is
-- called like it.
-- tests: control-plane/src/mcp-servers/retired-servers.pg.test.ts
CREATE TABLE retired_servers (
  tenant_id uuid NOT NULL,
  server_id text NOT NULL,
  retired_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, server_id)
);
ALTER TABLE retired_servers ENABLE ROW LEVEL SECURITY;
ALTER TABLE retired_servers FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON retired_servers
  USING (tenant_id = app_current_tenant()) WITH CHECK (tenant_id = app_current_tenant());
GRANT SELECT, INSERT, UPDATE, DELETE ON retired_servers TO governance_app;
