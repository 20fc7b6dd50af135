-- What was decided of which action for which requester in which session, and what the detectors
-- about requesters remember. Written every minute from the records, by the replica that leads.
-- tests: control-plane/src/platform/row-level-security.pg.test.ts,
-- control-plane/src/dispositions/disposition-flush.pg.test.ts
CREATE TABLE dispositions (
  tenant_id uuid NOT NULL REFERENCES tenants (id),
  requester_key uuid NOT NULL,
  -- Of server, method, tool and the shape of the target.
  action_key uuid NOT NULL,
  session_id uuid NOT NULL,
  agent_id uuid NOT NULL,
  mcp_server text NOT NULL,
  tool_name text NOT NULL,
  target_shape text NOT NULL,
  session_started_at timestamptz(3) NOT NULL,
  allowed bigint NOT NULL,
  allowed_first_at timestamptz(3),
  allowed_last_at timestamptz(3),
  blocked bigint NOT NULL,
  blocked_first_at timestamptz(3),
  blocked_last_at timestamptz(3),
  escalated bigint NOT NULL,
  escalated_first_at timestamptz(3),
  escalated_last_at timestamptz(3),
  -- When it was written, by the clock of the control plane.
  updated_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, requester_key, action_key, session_id)
);
CREATE INDEX dispositions_agent_idx ON dispositions (tenant_id, agent_id, updated_at DESC);
CREATE INDEX dispositions_updated_idx ON dispositions (tenant_id, updated_at DESC);

CREATE TABLE detector_states (
  tenant_id uuid NOT NULL REFERENCES tenants (id),
  detector text NOT NULL,
  subject text NOT NULL,
  -- What is told apart of the subject: a name that was given; empty where nothing is.
  item text NOT NULL,
  count bigint NOT NULL,
  -- By the clocks of the data planes.
  last_at timestamptz(3),
  -- When an alert was raised, by the clock of the control plane.
  alerted_at timestamptz(3),
  updated_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, detector, subject, item)
);
CREATE INDEX detector_states_updated_idx ON detector_states (tenant_id, updated_at DESC);

-- Up to which position the records were read.
CREATE TABLE disposition_marks (
  tenant_id uuid PRIMARY KEY REFERENCES tenants (id),
  position bigint NOT NULL,
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['dispositions', 'detector_states', 'disposition_marks'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format(
      'CREATE POLICY tenant_isolation ON %I USING (tenant_id = app_current_tenant()) '
      'WITH CHECK (tenant_id = app_current_tenant())', name);
  END LOOP;
END
$$;
GRANT SELECT, INSERT, UPDATE, DELETE ON dispositions, detector_states TO governance_app;
GRANT SELECT, INSERT, UPDATE ON disposition_marks TO governance_app;
