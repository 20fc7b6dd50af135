-- A client secret is verified before anything of its tenant is read: one look-up more, of one row.
-- tests: control-plane/src/platform/row-level-security.pg.test.ts
GRANT SELECT (secret_hash) ON agents TO governance_lookup;
GRANT CREATE ON SCHEMA public TO governance_lookup;

CREATE FUNCTION find_client_secret(wanted_client_id text)
  RETURNS TABLE (tenant_id uuid, agent_id uuid, secret_hash text)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT a.tenant_id, a.id, a.secret_hash FROM public.agents a WHERE a.client_id = wanted_client_id
$$;

ALTER FUNCTION find_client_secret(text) OWNER TO governance_lookup;
REVOKE CREATE ON SCHEMA public FROM governance_lookup;
REVOKE ALL ON FUNCTION find_client_secret(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_client_secret(text) TO governance_app;
