-- Workflows, their sessions, what agents delegate to each other in them, and which events belong to
-- which session.
-- tests: control-plane/src/platform/row-level-security.pg.test.ts
CREATE TABLE workflows (
  tenant_id uuid NOT NULL REFERENCES tenants (id),
  id uuid NOT NULL,
  name text NOT NULL,
  owner_agent_id uuid NOT NULL,
  max_depth integer NOT NULL CHECK (max_depth >= 0),
  max_participants integer NOT NULL CHECK (max_participants > 0),
  -- [{agent_id, role, allowed_actions}]
  participants jsonb NOT NULL,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'suspended')),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  -- Its sessions stay in the records, so it is not removed.
  deleted_at timestamptz(3),
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, owner_agent_id) REFERENCES agents (tenant_id, id)
);
CREATE INDEX workflows_created_at_idx ON workflows (tenant_id, created_at DESC, id DESC)
  WHERE deleted_at IS NULL;

CREATE TABLE workflow_sessions (
  tenant_id uuid NOT NULL REFERENCES tenants (id),
  id uuid NOT NULL,
  workflow_id uuid NOT NULL,
  initiated_by text NOT NULL,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'completed', 'aborted')),
  metadata jsonb NOT NULL DEFAULT '{}',
  started_at timestamptz(3) NOT NULL,
  completed_at timestamptz(3),
  expires_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, workflow_id) REFERENCES workflows (tenant_id, id)
);
CREATE INDEX workflow_sessions_workflow_idx
  ON workflow_sessions (tenant_id, workflow_id, started_at DESC, id DESC);
CREATE INDEX workflow_sessions_active_idx ON workflow_sessions (tenant_id, expires_at)
  WHERE status = 'active';

CREATE TABLE delegations (
  tenant_id uuid NOT NULL REFERENCES tenants (id),
  id uuid NOT NULL,
  workflow_session_id uuid NOT NULL,
  delegator_agent_id uuid NOT NULL,
  delegatee_agent_id uuid NOT NULL,
  delegation_depth integer NOT NULL CHECK (delegation_depth > 0),
  parent_delegation_id uuid,
  tools text[] NOT NULL,
  resources text[] NOT NULL,
  requester text NOT NULL,
  reason text NOT NULL,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'revoked')),
  created_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  revoked_at timestamptz(3),
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, workflow_session_id) REFERENCES workflow_sessions (tenant_id, id),
  FOREIGN KEY (tenant_id, delegator_agent_id) REFERENCES agents (tenant_id, id),
  FOREIGN KEY (tenant_id, delegatee_agent_id) REFERENCES agents (tenant_id, id),
  FOREIGN KEY (tenant_id, parent_delegation_id) REFERENCES delegations (tenant_id, id)
);
CREATE INDEX delegations_session_idx
  ON delegations (tenant_id, workflow_session_id, created_at DESC, id DESC);
CREATE INDEX delegations_parent_idx ON delegations (tenant_id, parent_delegation_id)
  WHERE parent_delegation_id IS NOT NULL;
CREATE INDEX delegations_active_idx ON delegations (tenant_id) WHERE status = 'active';

-- The decisions of a session, for its trace: written by ingest with the records themselves.
CREATE TABLE workflow_events (
  tenant_id uuid NOT NULL,
  session_id uuid NOT NULL,
  event_id uuid NOT NULL,
  event_time timestamptz(3) NOT NULL,
  agent_id uuid NOT NULL,
  action text NOT NULL,
  tool_name text NOT NULL,
  mcp_server text NOT NULL,
  policy_result text NOT NULL,
  parent_event_id uuid,
  PRIMARY KEY (tenant_id, session_id, event_id),
  FOREIGN KEY (tenant_id, session_id) REFERENCES workflow_sessions (tenant_id, id)
);
CREATE INDEX workflow_events_time_idx
  ON workflow_events (tenant_id, session_id, event_time, event_id);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['workflows', 'workflow_sessions', 'delegations', 'workflow_events']
  LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format(
      'CREATE POLICY tenant_isolation ON %I USING (tenant_id = app_current_tenant()) '
      'WITH CHECK (tenant_id = app_current_tenant())', name);
  END LOOP;
END
$$;
GRANT SELECT, INSERT, UPDATE ON workflows, workflow_sessions, delegations TO governance_app;
GRANT SELECT ON workflow_events TO governance_app;
GRANT SELECT, INSERT ON workflow_events TO governance_ingest;
-- A data plane may name sessions that there are not: ingest has to look.
GRANT SELECT (tenant_id, id) ON workflow_sessions TO governance_ingest;
