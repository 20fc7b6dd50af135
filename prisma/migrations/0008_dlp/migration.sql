-- A tenant's own patterns for sensitive data. The built-in ones are code.
CREATE TABLE dlp_patterns (
  tenant_id uuid NOT NULL REFERENCES tenants (id),
  id uuid NOT NULL,
  name text NOT NULL,
  regex text NOT NULL,
  severity text NOT NULL CHECK (severity IN ('low', 'medium', 'high', 'critical')),
  enabled boolean NOT NULL DEFAULT true,
  description text NOT NULL DEFAULT '',
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, name)
);

-- What a tenant set: what is done about findings, and what it changed of built-in patterns, by name.
CREATE TABLE dlp_settings (
  tenant_id uuid PRIMARY KEY REFERENCES tenants (id),
  actions jsonb NOT NULL DEFAULT '{}',
  builtins jsonb NOT NULL DEFAULT '{}',
  updated_at timestamptz(3)
);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['dlp_patterns', 'dlp_settings'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format(
      'CREATE POLICY tenant_isolation ON %I USING (tenant_id = app_current_tenant()) '
      'WITH CHECK (tenant_id = app_current_tenant())', name);
  END LOOP;
END
$$;

GRANT SELECT, INSERT, UPDATE, DELETE ON dlp_patterns TO governance_app;
GRANT SELECT, INSERT, UPDATE ON dlp_settings TO governance_app;
