-- Tools whose definition has changed since a data plane saw them first: what they are pinned to, and
-- what was seen last. Written by ingest from the data planes' alerts; approved by administrators.
CREATE TABLE pinned_tools (
  tenant_id uuid NOT NULL,
  server_id text NOT NULL,
  tool_name text NOT NULL,
  pinned_hash text NOT NULL,
  seen_hash text NOT NULL,
  -- The members that differed, as the data plane named them.
  changed text[] NOT NULL DEFAULT '{}',
  first_seen_at timestamptz(3) NOT NULL,
  changed_at timestamptz(3) NOT NULL,
  approved_by text,
  approved_at timestamptz(3),
  PRIMARY KEY (tenant_id, server_id, tool_name),
  FOREIGN KEY (tenant_id, server_id) REFERENCES mcp_servers (tenant_id, server_id)
    ON DELETE CASCADE
);
ALTER TABLE pinned_tools ENABLE ROW LEVEL SECURITY;
ALTER TABLE pinned_tools FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON pinned_tools
  USING (tenant_id = app_current_tenant()) WITH CHECK (tenant_id = app_current_tenant());
GRANT SELECT, UPDATE ON pinned_tools TO governance_app;
GRANT SELECT, INSERT, UPDATE ON pinned_tools TO governance_ingest;
-- A data plane may name servers that are not registered: ingest has to look.
GRANT SELECT (tenant_id, server_id) ON mcp_servers TO governance_ingest;
