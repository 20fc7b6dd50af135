-- Calls that a rate limit refused, by agent and hour, added up by ingest from the data planes' records.
-- tests: control-plane/src/rate-limits/rate-limited-calls.pg.test.ts
CREATE TABLE rate_limited_calls (
  tenant_id uuid NOT NULL REFERENCES tenants (id),
  agent_id uuid NOT NULL,
  hour timestamptz(3) NOT NULL,
  refused bigint NOT NULL,
  last_at timestamptz(3) NOT NULL,
  -- Of the last one: the limit that refused it.
  requests bigint NOT NULL,
  window_seconds bigint NOT NULL,
  risk_tier text NOT NULL,
  PRIMARY KEY (tenant_id, agent_id, hour)
);
CREATE INDEX rate_limited_calls_hour ON rate_limited_calls (tenant_id, hour DESC);
ALTER TABLE rate_limited_calls ENABLE ROW LEVEL SECURITY;
ALTER TABLE rate_limited_calls FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON rate_limited_calls USING (tenant_id = app_current_tenant())
  WITH CHECK (tenant_id = app_current_tenant());
GRANT SELECT, DELETE ON rate_limited_calls TO governance_app;
GRANT SELECT, INSERT, UPDATE ON rate_limited_calls TO governance_ingest;

-- What was seen last of a tool has the time of its change. The owner of the tables is held to the
-- tenant as well.
ALTER TABLE pinned_tools NO FORCE ROW LEVEL SECURITY;
UPDATE pinned_tools SET seen_at = changed_at WHERE changed_at < seen_at;
ALTER TABLE pinned_tools FORCE ROW LEVEL SECURITY;
