-- Tokens that register agents: issued by an administrator, for some agents and some time.
-- tests: control-plane/src/enrollment/enrollment-routes.pg.test.ts
CREATE TABLE enrollment_tokens (
  tenant_id uuid NOT NULL REFERENCES tenants (id),
  id uuid NOT NULL,
  label text NOT NULL,
  token_hash text NOT NULL UNIQUE,
  -- What an agent that it registers gets.
  role_ids uuid[] NOT NULL DEFAULT '{}',
  max_uses integer NOT NULL CHECK (max_uses > 0),
  uses integer NOT NULL DEFAULT 0,
  created_by text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3) NOT NULL,
  revoked_at timestamptz(3),
  PRIMARY KEY (tenant_id, id),
  CHECK (uses BETWEEN 0 AND max_uses)
);
CREATE INDEX enrollment_tokens_created_at_idx ON enrollment_tokens (tenant_id, created_at);
ALTER TABLE enrollment_tokens ENABLE ROW LEVEL SECURITY;
ALTER TABLE enrollment_tokens FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON enrollment_tokens
  USING (tenant_id = app_current_tenant()) WITH CHECK (tenant_id = app_current_tenant());
GRANT SELECT, INSERT, UPDATE, DELETE ON enrollment_tokens TO governance_app;

-- Which tenant's, before the tenant is known.
GRANT SELECT (tenant_id, id, token_hash) ON enrollment_tokens TO governance_lookup;
CREATE POLICY lookup_reads ON enrollment_tokens FOR SELECT TO governance_lookup USING (true);
GRANT CREATE ON SCHEMA public TO governance_lookup;
CREATE FUNCTION find_enrollment_token(wanted_token_hash text)
  RETURNS TABLE (tenant_id uuid, id uuid)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT t.tenant_id, t.id FROM public.enrollment_tokens t WHERE t.token_hash = wanted_token_hash
$$;
ALTER FUNCTION find_enrollment_token(text) OWNER TO governance_lookup;
REVOKE CREATE ON SCHEMA public FROM governance_lookup;
REVOKE ALL ON FUNCTION find_enrollment_token(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_enrollment_token(text) TO governance_app;
