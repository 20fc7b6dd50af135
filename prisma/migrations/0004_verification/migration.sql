-- How far the control plane has verified its chains by itself.
-- tests: control-plane/src/audit/chain-watch.pg.test.ts, platform/row-level-security.pg.test.ts

-- A row for each walk of a tenant: `new`, of what came since the run before, and `full`, of
-- everything once a day. What the walk under way has found, and what the last whole one had.
CREATE TABLE verification_walks (
  tenant_id uuid NOT NULL REFERENCES tenants (id),
  kind text NOT NULL CHECK (kind IN ('new', 'full')),
  -- Of the walk under way; null between two.
  started_at timestamptz(3),
  up_to_position bigint NOT NULL DEFAULT 0,
  breaks integer NOT NULL DEFAULT 0,
  -- Of the last one that came to its end.
  finished_at timestamptz(3),
  finished_records bigint NOT NULL DEFAULT 0,
  finished_position bigint NOT NULL DEFAULT 0,
  finished_breaks integer NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant_id, kind)
);

-- Where a walk stands in each stream, as JSON: stream-mark.ts says what.
CREATE TABLE verification_marks (
  tenant_id uuid NOT NULL REFERENCES tenants (id),
  kind text NOT NULL CHECK (kind IN ('new', 'full')),
  stream uuid NOT NULL,
  mark text NOT NULL,
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, kind, stream)
);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['verification_walks', 'verification_marks'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format(
      'CREATE POLICY tenant_isolation ON %I USING (tenant_id = app_current_tenant()) '
      'WITH CHECK (tenant_id = app_current_tenant())', name);
  END LOOP;
END
$$;
GRANT SELECT, INSERT, UPDATE ON verification_walks TO governance_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON verification_marks TO governance_app;

-- When the head was signed that a data plane remembers and the admin chain lost: an announced restore
-- explains what was signed before it.
ALTER TABLE chain_breaks ADD COLUMN signed_at timestamptz(3);
