-- Recorded decisions, judged anew by a policy's other text. A replica that claims one holds it until
-- lease_until; position is how far it came, result what it has counted up to there.
-- tests: control-plane/src/replays/replay-routes.pg.test.ts
CREATE TABLE policy_replays (
  tenant_id uuid NOT NULL REFERENCES tenants (id),
  id uuid NOT NULL,
  policy_id uuid NOT NULL,
  change_request_id uuid,
  status text NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'completed', 'failed', 'cancelled')),
  from_time timestamptz(3) NOT NULL,
  to_time timestamptz(3) NOT NULL,
  name text NOT NULL,
  rego_content text NOT NULL,
  rego_sha256 text NOT NULL,
  -- The policy is taken out of the active set instead.
  is_left_out boolean NOT NULL,
  -- Of the active set with the policy, and the settings, when it began.
  set_digest text NOT NULL,
  -- Its reading of encrypted payloads is in the audit chain.
  opens_encrypted boolean NOT NULL,
  until_position bigint NOT NULL,
  position bigint NOT NULL DEFAULT 0,
  decisions_total bigint NOT NULL,
  result jsonb NOT NULL,
  reason text,
  requested_by text NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  lease_until timestamptz(3) NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  finished_at timestamptz(3),
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, policy_id) REFERENCES policies (tenant_id, id)
);
CREATE UNIQUE INDEX policy_replays_one_idx ON policy_replays (tenant_id)
  WHERE status IN ('queued', 'running');
CREATE INDEX policy_replays_policy_idx ON policy_replays (tenant_id, policy_id, created_at);
CREATE INDEX policy_replays_due_idx ON policy_replays (lease_until)
  WHERE status IN ('queued', 'running');
ALTER TABLE policy_replays ENABLE ROW LEVEL SECURITY;
ALTER TABLE policy_replays FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON policy_replays
  USING (tenant_id = app_current_tenant()) WITH CHECK (tenant_id = app_current_tenant());
GRANT SELECT, INSERT, UPDATE, DELETE ON policy_replays TO governance_app;

-- Which replay the leader does next, over all tenants: nothing but its place.
GRANT SELECT (tenant_id, id, status, lease_until) ON policy_replays TO governance_lookup;
CREATE POLICY lookup_reads ON policy_replays FOR SELECT TO governance_lookup USING (true);
GRANT CREATE ON SCHEMA public TO governance_lookup;

CREATE FUNCTION find_due_replays(at timestamptz) RETURNS TABLE (tenant_id uuid, id uuid)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT r.tenant_id, r.id FROM public.policy_replays r
  WHERE r.status IN ('queued', 'running') AND r.lease_until <= at
  ORDER BY r.lease_until LIMIT 10
$$;

ALTER FUNCTION find_due_replays(timestamptz) OWNER TO governance_lookup;
REVOKE CREATE ON SCHEMA public FROM governance_lookup;
REVOKE ALL ON FUNCTION find_due_replays(timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_due_replays(timestamptz) TO governance_app;
