-- What administrators say of the sources of results: trusted, untrusted or blocked, and until when.
CREATE TABLE inbound_rules (
  tenant_id uuid NOT NULL REFERENCES tenants (id),
  id uuid NOT NULL,
  source_pattern text NOT NULL,
  rule_type text NOT NULL CHECK (rule_type IN ('trust', 'untrusted', 'block')),
  -- Null: never.
  expires_at timestamptz(3),
  created_by text NOT NULL,
  notes text,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, id)
);

-- The settings that a tenant changed, as JSON: what is not in it has its default.
CREATE TABLE tenant_settings (
  tenant_id uuid PRIMARY KEY REFERENCES tenants (id),
  settings jsonb NOT NULL DEFAULT '{}',
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['inbound_rules', 'tenant_settings'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format(
      'CREATE POLICY tenant_isolation ON %I USING (tenant_id = app_current_tenant()) '
      'WITH CHECK (tenant_id = app_current_tenant())', name);
  END LOOP;
END
$$;
GRANT SELECT, INSERT, DELETE ON inbound_rules TO governance_app;
GRANT SELECT, INSERT, UPDATE ON tenant_settings TO governance_app;
