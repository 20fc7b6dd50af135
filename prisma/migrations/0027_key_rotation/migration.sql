-- The service's keys follow one another: each rotation is a statement that the key before and the new
-- one signed. A new key is made a little before it signs; `retired_at` says until when the one before
-- signed. A revoked key is in other hands: nothing of it is accepted any more.
-- tests: control-plane/src/service-keys/key-routes.pg.test.ts
ALTER TABLE service_keys
  -- Null: since it was made.
  ADD COLUMN valid_from timestamptz(3),
  ADD COLUMN revoked_at timestamptz(3),
  ADD COLUMN revoke_reason text;
GRANT UPDATE (private_ciphertext, retired_at, revoked_at, revoke_reason) ON service_keys
  TO governance_app;

CREATE TABLE service_key_rotations (
  -- Counts them, without a gap.
  number integer PRIMARY KEY CHECK (number > 0),
  purpose text NOT NULL,
  old_kid text NOT NULL REFERENCES service_keys (kid),
  new_kid text NOT NULL UNIQUE REFERENCES service_keys (kid),
  -- The statement with both signatures, as JSON.
  signed text NOT NULL,
  revokes boolean NOT NULL,
  reason text,
  actor_id text NOT NULL,
  actor_username text NOT NULL,
  request_id text NOT NULL,
  rotated_at timestamptz(3) NOT NULL
);
CREATE INDEX service_key_rotations_purpose_idx ON service_key_rotations (purpose, number);
ALTER TABLE service_key_rotations ENABLE ROW LEVEL SECURITY;
ALTER TABLE service_key_rotations FORCE ROW LEVEL SECURITY;
CREATE POLICY platform_only ON service_key_rotations
  USING (app_is_platform()) WITH CHECK (app_is_platform());
-- Each tenant's admin chain records them.
CREATE POLICY all_read ON service_key_rotations FOR SELECT USING (true);
GRANT SELECT, INSERT ON service_key_rotations TO governance_app;

-- Up to which rotation a tenant's admin chain and feed have heard; no row: of none.
CREATE TABLE key_announcements (
  tenant_id uuid PRIMARY KEY,
  number integer NOT NULL
);
ALTER TABLE key_announcements ENABLE ROW LEVEL SECURITY;
ALTER TABLE key_announcements FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON key_announcements
  USING (tenant_id = app_current_tenant()) WITH CHECK (tenant_id = app_current_tenant());
CREATE POLICY platform_reads ON key_announcements FOR SELECT USING (app_is_platform());
GRANT SELECT, INSERT, UPDATE ON key_announcements TO governance_app;

-- A change of the master key wraps anew what it holds.
-- tests: control-plane/src/master-key/rewrap.pg.test.ts
GRANT UPDATE (wrapped) ON data_keys TO governance_app;

GRANT CREATE ON SCHEMA public TO governance_lookup;
GRANT SELECT (private_ciphertext) ON service_keys TO governance_lookup;
CREATE POLICY lookup_reads ON service_keys FOR SELECT TO governance_lookup USING (true);
GRANT SELECT (tenant_id, credential_ciphertext) ON mcp_servers TO governance_lookup;
CREATE POLICY lookup_reads ON mcp_servers FOR SELECT TO governance_lookup USING (true);
GRANT SELECT (tenant_id, identifier_key_ciphertext) ON data_protection_policies TO governance_lookup;
CREATE POLICY lookup_reads ON data_protection_policies FOR SELECT TO governance_lookup USING (true);
GRANT SELECT (tenant_id, provider, wrapped) ON data_keys TO governance_lookup;
CREATE POLICY lookup_reads ON data_keys FOR SELECT TO governance_lookup USING (true);

-- How many ciphertexts there are under each master key: the bytes 2 to 9 name it. Of the platform's
-- keys the tenant is null.
CREATE FUNCTION count_ciphertexts()
  RETURNS TABLE (tenant_id uuid, kind text, master_key text, ciphertexts bigint)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT c.tenant_id, c.kind, encode(substring(c.ciphertext FROM 2 FOR 8), 'hex'), count(*)
  FROM (
    SELECT NULL::uuid AS tenant_id, 'service_key' AS kind, private_ciphertext AS ciphertext
      FROM public.service_keys
    UNION ALL
    SELECT tenant_id, 'upstream_credential', credential_ciphertext FROM public.mcp_servers
      WHERE credential_ciphertext IS NOT NULL
    UNION ALL
    SELECT tenant_id, 'identifier_key', identifier_key_ciphertext
      FROM public.data_protection_policies WHERE identifier_key_ciphertext IS NOT NULL
    UNION ALL
    SELECT tenant_id, 'data_key', wrapped FROM public.data_keys WHERE provider = 'local'
  ) c
  GROUP BY 1, 2, 3
$$;
ALTER FUNCTION count_ciphertexts() OWNER TO governance_lookup;
REVOKE CREATE ON SCHEMA public FROM governance_lookup;
REVOKE ALL ON FUNCTION count_ciphertexts() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION count_ciphertexts() TO governance_app;
