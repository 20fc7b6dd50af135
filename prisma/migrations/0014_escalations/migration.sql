-- Calls that wait for a person. Made by ingest of what data planes record; resolved once, here.
-- tests: control-plane/src/platform/row-level-security.pg.test.ts,
-- control-plane/src/escalations/escalation-routes.pg.test.ts
CREATE TABLE escalations (
  tenant_id uuid NOT NULL REFERENCES tenants (id),
  id uuid NOT NULL,
  -- The data plane that holds the call; it alone uses an approval.
  deployment_id uuid NOT NULL,
  event_id uuid NOT NULL,
  held text NOT NULL CHECK (held IN ('call', 'result')),
  agent_id uuid NOT NULL,
  requester_id text,
  mcp_server text NOT NULL,
  method text NOT NULL,
  tool_name text NOT NULL,
  target text NOT NULL,
  risk_tier text NOT NULL,
  reason text,
  instruction_hash text NOT NULL,
  opened_at timestamptz(3) NOT NULL,
  timeout_at timestamptz(3) NOT NULL,
  status text NOT NULL DEFAULT 'pending'
    CHECK (status IN ('pending', 'approved', 'denied', 'timed_out')),
  resolved_at timestamptz(3),
  resolved_by text,
  notes text,
  grant_id uuid,
  grant_expires_at timestamptz(3),
  -- Whether the feed has the fact of its resolution, which is taken back when nobody needs it.
  is_in_feed boolean NOT NULL DEFAULT false,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, id),
  CHECK ((status = 'pending') = (resolved_at IS NULL)),
  CHECK ((status = 'approved') = (grant_id IS NOT NULL)),
  CHECK ((grant_id IS NULL) = (grant_expires_at IS NULL))
);
CREATE INDEX escalations_by_time ON escalations (tenant_id, opened_at DESC, id DESC);
CREATE INDEX escalations_by_status ON escalations (tenant_id, status, opened_at DESC, id DESC);
CREATE INDEX escalations_pending ON escalations (timeout_at) WHERE status = 'pending';
CREATE INDEX escalations_in_feed ON escalations (resolved_at) WHERE is_in_feed;

ALTER TABLE escalations ENABLE ROW LEVEL SECURITY;
ALTER TABLE escalations FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON escalations
  USING (tenant_id = app_current_tenant()) WITH CHECK (tenant_id = app_current_tenant());
GRANT SELECT, UPDATE ON escalations TO governance_app;
GRANT SELECT, INSERT ON escalations TO governance_ingest;

-- Which tenants have escalations whose time is over, or facts that nobody needs any more: the task
-- that looks every second must not open a transaction for each tenant. It tells ids of tenants.
GRANT SELECT (tenant_id, status, timeout_at, is_in_feed, resolved_at) ON escalations
  TO governance_lookup;
CREATE POLICY lookup_reads ON escalations FOR SELECT TO governance_lookup USING (true);
GRANT CREATE ON SCHEMA public TO governance_lookup;

CREATE FUNCTION find_overdue_escalations(kept interval) RETURNS TABLE (tenant_id uuid)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT e.tenant_id FROM public.escalations e WHERE e.status = 'pending' AND e.timeout_at <= now()
  UNION
  SELECT e.tenant_id FROM public.escalations e WHERE e.is_in_feed AND e.resolved_at <= now() - kept
$$;

ALTER FUNCTION find_overdue_escalations(interval) OWNER TO governance_lookup;
REVOKE CREATE ON SCHEMA public FROM governance_lookup;
REVOKE ALL ON FUNCTION find_overdue_escalations(interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_overdue_escalations(interval) TO governance_app;
