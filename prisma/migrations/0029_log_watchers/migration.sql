-- What others hold of a tenant's log: checkpoints that data planes keep, and witnesses' cosignatures.
-- tests: control-plane/src/evidence/watchers/log-watch.pg.test.ts,
--   control-plane/src/evidence/witnesses/witnesses.pg.test.ts

-- The highest checkpoint that each data plane keeps, as this service signed it.
CREATE TABLE log_watches (
  tenant_id uuid NOT NULL,
  deployment_id uuid NOT NULL,
  epoch integer NOT NULL CHECK (epoch > 0),
  size bigint NOT NULL CHECK (size > 0),
  root text NOT NULL,
  note text NOT NULL,
  seen_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, deployment_id)
);

-- A witness's line for a checkpoint; with the note, so that it lasts longer than the checkpoint.
CREATE TABLE log_cosignatures (
  tenant_id uuid NOT NULL,
  epoch integer NOT NULL CHECK (epoch > 0),
  size bigint NOT NULL CHECK (size > 0),
  witness text NOT NULL,
  root text NOT NULL,
  note text NOT NULL,
  line text NOT NULL,
  made_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, epoch, size, witness)
);
CREATE INDEX log_cosignatures_made_idx ON log_cosignatures (tenant_id, made_at);

-- How each witness answers for a tenant's log. epoch and size: what it cosigned last.
CREATE TABLE log_witnesses (
  tenant_id uuid NOT NULL,
  witness text NOT NULL,
  epoch integer NOT NULL DEFAULT 1 CHECK (epoch > 0),
  size bigint NOT NULL DEFAULT 0,
  cosigned_at timestamptz(3),
  asked_at timestamptz(3) NOT NULL,
  -- Null while it answers.
  failure text,
  failing_since timestamptz(3),
  PRIMARY KEY (tenant_id, witness)
);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['log_watches', 'log_cosignatures', 'log_witnesses'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format(
      'CREATE POLICY tenant_isolation ON %I USING (tenant_id = app_current_tenant()) '
      'WITH CHECK (tenant_id = app_current_tenant())', name);
  END LOOP;
END
$$;
GRANT SELECT, INSERT, UPDATE ON log_watches, log_witnesses TO governance_app;
GRANT SELECT, INSERT, DELETE ON log_cosignatures TO governance_app;
