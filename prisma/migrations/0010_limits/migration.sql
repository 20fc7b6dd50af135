-- How far one call may reach, and how often an agent may call. No row: the defaults.
-- tests: control-plane/src/platform/row-level-security.pg.test.ts
CREATE TABLE blast_radius_settings (
  tenant_id uuid PRIMARY KEY REFERENCES tenants (id),
  email_recipient_limit integer NOT NULL,
  min_delete_depth integer NOT NULL,
  bulk_action_threshold integer NOT NULL,
  config_path_prefixes text[] NOT NULL,
  protected_file_patterns text[] NOT NULL,
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);

CREATE TABLE rate_limit_settings (
  tenant_id uuid PRIMARY KEY REFERENCES tenants (id),
  enabled boolean NOT NULL,
  -- By risk tier: requests and window_seconds.
  limits jsonb NOT NULL,
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['blast_radius_settings', 'rate_limit_settings'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format(
      'CREATE POLICY tenant_isolation ON %I USING (tenant_id = app_current_tenant()) '
      'WITH CHECK (tenant_id = app_current_tenant())', name);
  END LOOP;
END
$$;
GRANT SELECT, INSERT, UPDATE ON blast_radius_settings, rate_limit_settings TO governance_app;
