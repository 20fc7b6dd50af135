-- The package that a policy declares, beside its text: who looks for missing policies of all tenants at
-- a start reads names only, and no tenant's policies. PostgreSQL computes it, also for the rows there are.
-- tests: control-plane/src/platform/row-level-security.pg.test.ts,
-- control-plane/src/policies/policy-service.pg.test.ts
ALTER TABLE policies ADD COLUMN rego_package text GENERATED ALWAYS AS (
  substring(rego_content FROM '(?n)^package [A-Za-z0-9_.]+')
) STORED;
GRANT SELECT (rego_package) ON policies TO governance_lookup;

CREATE OR REPLACE FUNCTION find_incomplete_baselines(
  names text[], packages text[], after uuid, page integer
) RETURNS TABLE (tenant_id uuid)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT b.tenant_id
  FROM (SELECT DISTINCT p.tenant_id FROM public.policies p WHERE p.origin = 'baseline') b
  WHERE (after IS NULL OR b.tenant_id > after) AND EXISTS (
    SELECT FROM unnest(names, packages) AS wanted (name, package)
    WHERE NOT EXISTS (
      SELECT FROM public.policies p
      WHERE p.tenant_id = b.tenant_id AND (p.name = wanted.name OR p.rego_package = wanted.package)
    )
  )
  ORDER BY b.tenant_id LIMIT page
$$;

REVOKE SELECT (rego_content) ON policies FROM governance_lookup;

-- What a set of volumes may have is bounded: how many of a volume's records nobody can read.
ALTER TABLE evidence_volumes ADD COLUMN unread bigint NOT NULL DEFAULT 0 CHECK (unread >= 0);
