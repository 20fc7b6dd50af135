-- What DLP found last in what each agent sends: the newest 200 of an agent, of which DLP_CROSS_SESSION
-- is made. Names of patterns only, and nothing of what they matched. Written with the other detectors'
-- rows, by the replica that leads.
-- tests: control-plane/src/platform/row-level-security.pg.test.ts,
-- control-plane/src/dispositions/cross-session.pg.test.ts
CREATE TABLE dlp_sightings (
  tenant_id uuid NOT NULL REFERENCES tenants (id),
  agent_id uuid NOT NULL,
  -- By the clock of the data plane.
  seen_at timestamptz(3) NOT NULL,
  -- The decision's id.
  event_id uuid NOT NULL,
  pattern text NOT NULL,
  -- Of the MCP session; of the requester where the client has none.
  session_key uuid NOT NULL,
  -- When a session of a client without one began; null for an MCP session.
  session_started_at timestamptz(3),
  -- When it was written, by the clock of the control plane.
  updated_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, agent_id, seen_at, event_id, pattern)
);
CREATE INDEX dlp_sightings_updated_idx ON dlp_sightings (tenant_id, updated_at DESC);

ALTER TABLE dlp_sightings ENABLE ROW LEVEL SECURITY;
ALTER TABLE dlp_sightings FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON dlp_sightings USING (tenant_id = app_current_tenant())
  WITH CHECK (tenant_id = app_current_tenant());
GRANT SELECT, INSERT, UPDATE, DELETE ON dlp_sightings TO governance_app;
