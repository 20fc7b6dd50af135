-- What somebody proposes of a policy, for another to approve: the whole content as it was looked at
-- (base) and as it would be (proposed).
-- tests: control-plane/src/policies/change-requests/change-request-routes.pg.test.ts
CREATE TABLE change_requests (
  tenant_id uuid NOT NULL REFERENCES tenants (id),
  id uuid NOT NULL,
  policy_id uuid NOT NULL,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'approved', 'rejected')),
  summary text NOT NULL,
  proposed_name text NOT NULL,
  proposed_description text NOT NULL,
  proposed_rego_content text NOT NULL,
  proposed_status text NOT NULL CHECK (proposed_status IN ('draft', 'active', 'archived')),
  base_name text NOT NULL,
  base_description text NOT NULL,
  base_rego_content text NOT NULL,
  base_status text NOT NULL CHECK (base_status IN ('draft', 'active', 'archived')),
  -- SHA-256 over policy, base and proposed, as the audit record of the proposal has it.
  digest text NOT NULL,
  -- Users may be deleted: no reference.
  author_id text NOT NULL,
  author text NOT NULL,
  reviewer_id text,
  reviewer text,
  notes text,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  reviewed_at timestamptz(3),
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, policy_id) REFERENCES policies (tenant_id, id)
);
CREATE INDEX change_requests_policy_idx ON change_requests (tenant_id, policy_id, created_at);
CREATE INDEX change_requests_pending_idx ON change_requests (tenant_id, created_at)
  WHERE status = 'pending';
ALTER TABLE change_requests ENABLE ROW LEVEL SECURITY;
ALTER TABLE change_requests FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON change_requests
  USING (tenant_id = app_current_tenant()) WITH CHECK (tenant_id = app_current_tenant());
GRANT SELECT, INSERT, UPDATE, DELETE ON change_requests TO governance_app;
