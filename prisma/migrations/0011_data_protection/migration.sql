-- Data protection: what of calls is kept beside the chain, under which keys, and for how long.
-- tests: control-plane/src/platform/row-level-security.pg.test.ts
CREATE TABLE data_protection_policies (
  tenant_id uuid PRIMARY KEY REFERENCES tenants (id),
  payload_mode text NOT NULL DEFAULT 'metadata_only'
    CHECK (payload_mode IN ('full', 'metadata_only', 'redacted', 'encrypted')),
  redact_dlp_matches boolean NOT NULL DEFAULT false,
  redact_fields text[] NOT NULL DEFAULT '{}',
  hash_identifiers boolean NOT NULL DEFAULT false,
  -- Of hash_identifiers, encrypted under the master key; made when it is first switched on.
  identifier_key_ciphertext bytea,
  encryption_enabled boolean NOT NULL DEFAULT false,
  kms_provider text CHECK (kms_provider IN ('local', 'aws', 'gcp', 'azure', 'vault')),
  kms_key_id text,
  payload_retention_days integer NOT NULL DEFAULT 30,
  strip_payload_from_stream boolean NOT NULL DEFAULT false,
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);

-- Keys that encrypt data, each itself encrypted by a key provider.
CREATE TABLE data_keys (
  tenant_id uuid NOT NULL REFERENCES tenants (id),
  id uuid NOT NULL,
  purpose text NOT NULL,
  provider text NOT NULL,
  -- The provider's own name of its key; the empty text for the master key.
  kms_key_id text NOT NULL,
  wrapped bytea NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX data_keys_newest_idx
  ON data_keys (tenant_id, purpose, provider, kms_key_id, created_at DESC);

-- What calls asked for and got, encrypted. Each row holds its salt too, so that nothing about it can
-- be proven or guessed from the chain once it is deleted.
CREATE TABLE event_payloads (
  tenant_id uuid NOT NULL REFERENCES tenants (id),
  event_id uuid NOT NULL,
  part text NOT NULL CHECK (part IN ('input', 'result')),
  deployment_id uuid NOT NULL,
  -- Whether the tenant's policy had it encrypted: it is shown by the decrypt route alone then.
  is_encrypted boolean NOT NULL,
  data_key_id uuid NOT NULL,
  ciphertext bytea NOT NULL,
  received_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, event_id, part)
);
CREATE INDEX event_payloads_received_at_idx ON event_payloads (tenant_id, received_at);

CREATE TABLE payload_purges (
  tenant_id uuid NOT NULL REFERENCES tenants (id),
  id uuid NOT NULL,
  events integer NOT NULL,
  purged_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, id)
);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY[
    'data_protection_policies', 'data_keys', 'event_payloads', 'payload_purges'
  ] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format(
      'CREATE POLICY tenant_isolation ON %I USING (tenant_id = app_current_tenant()) '
      'WITH CHECK (tenant_id = app_current_tenant())', name);
  END LOOP;
END
$$;
GRANT SELECT, INSERT, UPDATE ON data_protection_policies TO governance_app;
GRANT SELECT, INSERT ON data_keys TO governance_app;
GRANT SELECT, INSERT, DELETE ON event_payloads, payload_purges TO governance_app;
