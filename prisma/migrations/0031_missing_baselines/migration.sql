-- Which tenants that began with a pack of policies lack one of it: a start must not open a transaction
-- for each tenant. A policy counts by its name or by its package, in any state. It tells ids of tenants.
-- tests: control-plane/src/policies/policy-service.pg.test.ts
GRANT SELECT (tenant_id, name, rego_content, origin) ON policies TO governance_lookup;
CREATE POLICY lookup_reads ON policies FOR SELECT TO governance_lookup USING (true);
GRANT CREATE ON SCHEMA public TO governance_lookup;

CREATE FUNCTION find_incomplete_baselines(names text[], packages text[], after uuid, page integer)
  RETURNS TABLE (tenant_id uuid)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT b.tenant_id
  FROM (SELECT DISTINCT p.tenant_id FROM public.policies p WHERE p.origin = 'baseline') b
  WHERE (after IS NULL OR b.tenant_id > after) AND EXISTS (
    SELECT FROM unnest(names, packages) AS wanted (name, package)
    WHERE NOT EXISTS (
      SELECT FROM public.policies p
      WHERE p.tenant_id = b.tenant_id AND (
        p.name = wanted.name
        OR substring(p.rego_content FROM '(?n)^package [A-Za-z0-9_.]+') = wanted.package
      )
    )
  )
  ORDER BY b.tenant_id LIMIT page
$$;

ALTER FUNCTION find_incomplete_baselines(text[], text[], uuid, integer) OWNER TO governance_lookup;
REVOKE CREATE ON SCHEMA public FROM governance_lookup;
REVOKE ALL ON FUNCTION find_incomplete_baselines(text[], text[], uuid, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_incomplete_baselines(text[], text[], uuid, integer)
  TO governance_app;
