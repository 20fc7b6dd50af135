-- Sessions of agents, and which decisions are theirs: written by ingest with the records themselves.
-- tests: control-plane/src/platform/row-level-security.pg.test.ts,
-- control-plane/src/sessions/session-projection.pg.test.ts
CREATE TABLE agent_sessions (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  -- Of agent, requester and the protocol's session (session-key.ts). Sessions of one key never overlap.
  session_key uuid NOT NULL,
  agent_id uuid NOT NULL,
  requester_key uuid NOT NULL,
  requester_id text,
  started_at timestamptz(3) NOT NULL,
  last_event_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  event_count bigint NOT NULL,
  tool_call_count bigint NOT NULL,
  dlp_hit_count bigint NOT NULL,
  closed_at timestamptz(3),
  risk_score_at_close double precision,
  -- The session that this one turned out to be a part of, when late records came.
  merged_into uuid,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, agent_id) REFERENCES agents (tenant_id, id),
  CHECK (started_at <= last_event_at),
  CHECK ((closed_at IS NULL) = (risk_score_at_close IS NULL))
) WITH (fillfactor = 70);
-- None of them has a column that changes with each call, so that an update stays within its page.
CREATE INDEX agent_sessions_key_idx ON agent_sessions (tenant_id, session_key, started_at)
  WHERE merged_into IS NULL;
CREATE INDEX agent_sessions_time_idx ON agent_sessions (tenant_id, started_at DESC, id DESC)
  WHERE merged_into IS NULL;
CREATE INDEX agent_sessions_agent_idx
  ON agent_sessions (tenant_id, agent_id, started_at DESC, id DESC) WHERE merged_into IS NULL;
CREATE INDEX agent_sessions_requester_idx ON agent_sessions (tenant_id, requester_key, started_at)
  WHERE merged_into IS NULL AND requester_id IS NOT NULL;
CREATE INDEX agent_sessions_open_idx ON agent_sessions (tenant_id, started_at DESC, id DESC)
  WHERE merged_into IS NULL AND closed_at IS NULL;
CREATE INDEX agent_sessions_merged_idx ON agent_sessions (tenant_id, merged_into)
  WHERE merged_into IS NOT NULL;

-- A record is named by its place in its stream, which no other has.
CREATE TABLE session_events (
  tenant_id uuid NOT NULL,
  session_id uuid NOT NULL,
  event_time timestamptz(3) NOT NULL,
  stream uuid NOT NULL,
  epoch integer NOT NULL,
  seq bigint NOT NULL,
  PRIMARY KEY (tenant_id, session_id, event_time, stream, epoch, seq)
);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['agent_sessions', 'session_events'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format(
      'CREATE POLICY tenant_isolation ON %I USING (tenant_id = app_current_tenant()) '
      'WITH CHECK (tenant_id = app_current_tenant())', name);
  END LOOP;
END
$$;
GRANT SELECT, UPDATE ON agent_sessions TO governance_app;
GRANT SELECT ON session_events TO governance_app;
GRANT SELECT, INSERT, UPDATE ON agent_sessions TO governance_ingest;
GRANT SELECT, INSERT ON session_events TO governance_ingest;
-- How long a session may be idle is a setting of the tenant.
GRANT SELECT ON tenant_settings TO governance_ingest;

-- Which tenants have sessions to close: the task that looks often must not open a transaction for
-- each tenant. It tells ids of tenants.
GRANT SELECT (tenant_id, expires_at, closed_at, merged_into) ON agent_sessions TO governance_lookup;
CREATE POLICY lookup_reads ON agent_sessions FOR SELECT TO governance_lookup USING (true);
GRANT CREATE ON SCHEMA public TO governance_lookup;

CREATE FUNCTION find_expired_sessions(at timestamptz) RETURNS TABLE (tenant_id uuid)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT DISTINCT s.tenant_id FROM public.agent_sessions s
  WHERE s.merged_into IS NULL AND s.closed_at IS NULL AND s.expires_at <= at
$$;

ALTER FUNCTION find_expired_sessions(timestamptz) OWNER TO governance_lookup;
REVOKE CREATE ON SCHEMA public FROM governance_lookup;
REVOKE ALL ON FUNCTION find_expired_sessions(timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_expired_sessions(timestamptz) TO governance_app;
