-- Credentials that an agent has beside its first one, each for one client and revocable alone.
-- tests: control-plane/src/agent-credentials/credential-routes.pg.test.ts
CREATE TABLE agent_credentials (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  agent_id uuid NOT NULL,
  label text NOT NULL,
  -- Which client uses it: cursor, vscode and so on; `other`.
  client text NOT NULL,
  -- Of another form than agents' own, so that neither can take the other's.
  client_id text NOT NULL UNIQUE CHECK (client_id LIKE 'acr\_%'),
  secret_hash text NOT NULL,
  version integer NOT NULL DEFAULT 1 CHECK (version > 0),
  created_by text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  rotated_at timestamptz(3),
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, agent_id) REFERENCES agents (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX agent_credentials_agent_idx ON agent_credentials (tenant_id, agent_id, created_at);
ALTER TABLE agent_credentials ENABLE ROW LEVEL SECURITY;
ALTER TABLE agent_credentials FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON agent_credentials
  USING (tenant_id = app_current_tenant()) WITH CHECK (tenant_id = app_current_tenant());
GRANT SELECT, INSERT, UPDATE, DELETE ON agent_credentials TO governance_app;

-- Tokens with which a client gets a credential of its own: 15 minutes, once.
-- tests: control-plane/src/installers/installer-routes.pg.test.ts
CREATE TABLE installer_tokens (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  agent_id uuid NOT NULL,
  label text NOT NULL,
  client text NOT NULL,
  token_hash text NOT NULL UNIQUE,
  created_by text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3) NOT NULL,
  used_at timestamptz(3),
  revoked_at timestamptz(3),
  -- What it was redeemed for; stays when that is revoked.
  credential_id uuid,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, agent_id) REFERENCES agents (tenant_id, id) ON DELETE CASCADE,
  CHECK ((used_at IS NULL) = (credential_id IS NULL))
);
CREATE INDEX installer_tokens_agent_idx ON installer_tokens (tenant_id, agent_id, created_at);
ALTER TABLE installer_tokens ENABLE ROW LEVEL SECURITY;
ALTER TABLE installer_tokens FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON installer_tokens
  USING (tenant_id = app_current_tenant()) WITH CHECK (tenant_id = app_current_tenant());
GRANT SELECT, INSERT, UPDATE, DELETE ON installer_tokens TO governance_app;

-- The look-ups that come before the tenant is known: one row each, by a unique key.
GRANT SELECT (tenant_id, id, agent_id, client_id, secret_hash) ON agent_credentials
  TO governance_lookup;
CREATE POLICY lookup_reads ON agent_credentials FOR SELECT TO governance_lookup USING (true);
GRANT SELECT (tenant_id, id, token_hash) ON installer_tokens TO governance_lookup;
CREATE POLICY lookup_reads ON installer_tokens FOR SELECT TO governance_lookup USING (true);
GRANT CREATE ON SCHEMA public TO governance_lookup;

-- credential_id is null for an agent's first credential.
CREATE FUNCTION find_client_credential(wanted_client_id text)
  RETURNS TABLE (tenant_id uuid, agent_id uuid, credential_id uuid, secret_hash text)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT a.tenant_id, a.id, NULL::uuid, a.secret_hash FROM public.agents a
  WHERE a.client_id = wanted_client_id
  UNION ALL
  SELECT c.tenant_id, c.agent_id, c.id, c.secret_hash FROM public.agent_credentials c
  WHERE c.client_id = wanted_client_id
$$;
CREATE FUNCTION find_installer_token(wanted_token_hash text)
  RETURNS TABLE (tenant_id uuid, id uuid)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT t.tenant_id, t.id FROM public.installer_tokens t WHERE t.token_hash = wanted_token_hash
$$;

ALTER FUNCTION find_client_credential(text) OWNER TO governance_lookup;
ALTER FUNCTION find_installer_token(text) OWNER TO governance_lookup;
REVOKE CREATE ON SCHEMA public FROM governance_lookup;
REVOKE ALL ON FUNCTION find_client_credential(text), find_installer_token(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_client_credential(text), find_installer_token(text)
  TO governance_app;
