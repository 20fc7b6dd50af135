-- Standing exceptions: what lifts an escalation of its shape, or one policy's denial of one agent.
-- tests: control-plane/src/exceptions/exception-routes.pg.test.ts,
-- control-plane/src/platform/row-level-security.pg.test.ts
CREATE TABLE exceptions (
  tenant_id uuid NOT NULL REFERENCES tenants (id),
  id uuid NOT NULL,
  status text NOT NULL CHECK (status IN ('pending', 'active', 'revoked', 'expired', 'rejected')),
  lifts text NOT NULL CHECK (lifts IN ('escalation', 'deny')),
  agent_id uuid,
  mcp_server text,
  tool_name text,
  resource text,
  -- A policy's id, or blast_radius.
  policy_id text,
  justification text NOT NULL,
  -- The escalation that it was made with.
  escalation_id uuid,
  extension_count integer NOT NULL DEFAULT 0 CHECK (extension_count >= 0),
  max_extensions integer NOT NULL CHECK (max_extensions >= 0),
  -- Users may be deleted: no reference.
  created_by_id text NOT NULL,
  created_by text NOT NULL,
  reviewed_by text,
  reviewed_at timestamptz(3),
  notes text,
  revoked_by text,
  revoked_at timestamptz(3),
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, agent_id) REFERENCES agents (tenant_id, id),
  CHECK (num_nonnulls(agent_id, mcp_server, tool_name, resource, policy_id) > 0),
  CHECK (lifts <> 'deny' OR (agent_id IS NOT NULL AND policy_id IS NOT NULL)),
  CHECK (extension_count <= max_extensions),
  CHECK ((status = 'revoked') = (revoked_at IS NOT NULL))
);
CREATE INDEX exceptions_by_time ON exceptions (tenant_id, created_at DESC, id DESC);
CREATE INDEX exceptions_by_agent ON exceptions (tenant_id, agent_id, created_at);
CREATE INDEX exceptions_open ON exceptions (expires_at) WHERE status IN ('pending', 'active');
CREATE INDEX exceptions_ended ON exceptions (updated_at)
  WHERE status IN ('revoked', 'expired', 'rejected');

ALTER TABLE exceptions ENABLE ROW LEVEL SECURITY;
ALTER TABLE exceptions FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON exceptions
  USING (tenant_id = app_current_tenant()) WITH CHECK (tenant_id = app_current_tenant());
GRANT SELECT, INSERT, UPDATE, DELETE ON exceptions TO governance_app;

-- Which tenants have exceptions whose time is over, or that ended long ago: the task that looks often
-- must not open a transaction for each tenant. It tells ids of tenants.
GRANT SELECT (tenant_id, status, expires_at, updated_at) ON exceptions TO governance_lookup;
CREATE POLICY lookup_reads ON exceptions FOR SELECT TO governance_lookup USING (true);
GRANT CREATE ON SCHEMA public TO governance_lookup;

CREATE FUNCTION find_ended_exceptions(at timestamptz, kept interval) RETURNS TABLE (tenant_id uuid)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT e.tenant_id FROM public.exceptions e
  WHERE e.status IN ('pending', 'active') AND e.expires_at <= at
  UNION
  SELECT e.tenant_id FROM public.exceptions e
  WHERE e.status IN ('revoked', 'expired', 'rejected') AND e.updated_at <= at - kept
$$;

ALTER FUNCTION find_ended_exceptions(timestamptz, interval) OWNER TO governance_lookup;
REVOKE CREATE ON SCHEMA public FROM governance_lookup;
REVOKE ALL ON FUNCTION find_ended_exceptions(timestamptz, interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_ended_exceptions(timestamptz, interval) TO governance_app;

-- What an exception would name to cover such calls: {policy_ids, resource}; null where that cannot be
-- said. And the one that an approval made.
ALTER TABLE escalations ADD COLUMN shape jsonb, ADD COLUMN exception_id uuid;
