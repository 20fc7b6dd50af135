-- A data plane's row, and a token's, name the admin record that made them what they are, and carry the
-- service's signature over both: nothing is sealed to a key, and no token believed, that a hand wrote
-- here. Rows of earlier versions have neither until the next start.
-- tests: control-plane/src/data-planes/attested-planes.pg.test.ts
ALTER TABLE data_planes ADD COLUMN record_id uuid, ADD COLUMN attestation text;
-- issued_until: a token's end at its issue, which is attested; renewals bring expires_at forward.
ALTER TABLE data_plane_tokens
  ADD COLUMN issued_until timestamptz(3), ADD COLUMN record_id uuid, ADD COLUMN attestation text;

-- What became of data planes, among all records, newest first. The action is the first member of a
-- record's canonical bytes. The look-ups repeat this condition word for word
-- (control-plane/src/data-planes/plane-records.ts).
CREATE INDEX ledger_records_plane_idx ON ledger_records (tenant_id, position DESC)
  WHERE type = 'admin_action' AND (substring(bytes FROM 1 FOR 28) IN (
    '{"action":"data_plane_regist', '{"action":"data_plane_update', '{"action":"data_plane_attest',
    '{"action":"data_plane_forked', '{"action":"data_plane_revoke', '{"action":"data_planes_attes')
    OR substring(bytes FROM 1 FOR 34) = '{"action":"data_plane_token_revoke');

-- Beside find_data_plane_token, which older replicas call while an upgrade is rolled out.
GRANT SELECT (root_id, created_at, issued_until, record_id, attestation)
  ON data_plane_tokens TO governance_lookup;
GRANT CREATE ON SCHEMA public TO governance_lookup;
CREATE FUNCTION find_attested_token(wanted_token_hash text)
  RETURNS TABLE (
    tenant_id uuid, id uuid, deployment_id uuid, root_id uuid, region text, created_at timestamptz,
    expires_at timestamptz, issued_until timestamptz, revoked_at timestamptz, record_id uuid,
    attestation text)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT t.tenant_id, t.id, t.deployment_id, t.root_id, t.region, t.created_at, t.expires_at,
    t.issued_until, t.revoked_at, t.record_id, t.attestation
  FROM public.data_plane_tokens t WHERE t.token_hash = wanted_token_hash
$$;
ALTER FUNCTION find_attested_token(text) OWNER TO governance_lookup;
REVOKE CREATE ON SCHEMA public FROM governance_lookup;
REVOKE ALL ON FUNCTION find_attested_token(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_attested_token(text) TO governance_app;
