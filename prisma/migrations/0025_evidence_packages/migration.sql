-- Evidence packages: what was asked for, and what was made, in pieces, so that every replica serves
-- them and they survive the one that made them. Deleted when they expire.
-- tests: control-plane/src/evidence/export.pg.test.ts
CREATE TABLE evidence_packages (
  tenant_id uuid NOT NULL REFERENCES tenants (id),
  id uuid NOT NULL,
  status text NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'ready', 'failed')),
  requested_by text NOT NULL,
  requested_at timestamptz(3) NOT NULL,
  from_time timestamptz(3) NOT NULL,
  to_time timestamptz(3) NOT NULL,
  agent_ids uuid[] NOT NULL DEFAULT '{}',
  workflow_session_id uuid,
  include_payloads boolean NOT NULL,
  anchor_sizes bigint[] NOT NULL DEFAULT '{}',
  -- The cut into volumes, made once, so that a repeated run makes the same.
  plan jsonb,
  attempts integer NOT NULL DEFAULT 0,
  started_at timestamptz(3),
  finished_at timestamptz(3),
  -- Of a run under way: another replica takes it over when this is long ago.
  alive_at timestamptz(3),
  failure text,
  expires_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id),
  CHECK (from_time < to_time)
);
CREATE INDEX evidence_packages_open_idx ON evidence_packages (tenant_id)
  WHERE status IN ('queued', 'running');
CREATE INDEX evidence_packages_expiry_idx ON evidence_packages (expires_at);

CREATE TABLE evidence_volumes (
  tenant_id uuid NOT NULL,
  package_id uuid NOT NULL,
  number integer NOT NULL CHECK (number > 0),
  id uuid NOT NULL,
  events bigint NOT NULL,
  size bigint NOT NULL,
  sha256 text NOT NULL,
  -- Of the manifest's payload: the next volume names it.
  manifest_digest text NOT NULL,
  made_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, package_id, number),
  FOREIGN KEY (tenant_id, package_id) REFERENCES evidence_packages (tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE evidence_chunks (
  tenant_id uuid NOT NULL,
  package_id uuid NOT NULL,
  volume integer NOT NULL,
  n integer NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (tenant_id, package_id, volume, n),
  FOREIGN KEY (tenant_id, package_id) REFERENCES evidence_packages (tenant_id, id) ON DELETE CASCADE
);
-- Compressed already.
ALTER TABLE evidence_chunks ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- The members by which a bundle shows who signed which revision: bundles themselves are not kept as
-- long as the decisions that name them.
CREATE TABLE bundle_manifests (
  tenant_id uuid NOT NULL,
  revision bigint NOT NULL,
  digest text NOT NULL,
  manifest text NOT NULL,
  signatures text NOT NULL,
  PRIMARY KEY (tenant_id, revision)
);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY[
    'evidence_packages', 'evidence_volumes', 'evidence_chunks', 'bundle_manifests'
  ] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format(
      'CREATE POLICY tenant_isolation ON %I USING (tenant_id = app_current_tenant()) '
      'WITH CHECK (tenant_id = app_current_tenant())', name);
  END LOOP;
END
$$;
GRANT SELECT, INSERT, UPDATE, DELETE ON evidence_packages, evidence_volumes, evidence_chunks
  TO governance_app;

GRANT SELECT, INSERT ON bundle_manifests TO governance_app;

-- Which tenants have packages to make or to delete. It tells ids of tenants.
GRANT SELECT (tenant_id, status, expires_at) ON evidence_packages TO governance_lookup;
CREATE POLICY lookup_reads ON evidence_packages FOR SELECT TO governance_lookup USING (true);
GRANT CREATE ON SCHEMA public TO governance_lookup;

CREATE FUNCTION find_evidence_work() RETURNS TABLE (tenant_id uuid, is_expiry boolean)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT DISTINCT e.tenant_id, false FROM public.evidence_packages e
  WHERE e.status IN ('queued', 'running')
  UNION
  SELECT DISTINCT e.tenant_id, true FROM public.evidence_packages e WHERE e.expires_at <= now()
$$;

ALTER FUNCTION find_evidence_work() OWNER TO governance_lookup;
REVOKE CREATE ON SCHEMA public FROM governance_lookup;
REVOKE ALL ON FUNCTION find_evidence_work() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_evidence_work() TO governance_app;
