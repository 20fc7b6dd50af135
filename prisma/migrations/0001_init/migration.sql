-- The control plane's first schema.
--
-- Roles: the login that runs this owns the tables; governance_app (what the application runs as)
-- owns nothing and is held by row-level security; governance_ingest owns the ledger tables, since
-- COPY is refused under row-level security; governance_lookup owns the three look-ups that come
-- before a tenant is known, and may read only the columns they need.
-- tests: control-plane/src/platform/row-level-security.pg.test.ts

-- Roles belong to the whole server, so they may exist already, and another database of the same
-- server may be creating them at this moment.
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['governance_app', 'governance_ingest', 'governance_lookup'] LOOP
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = name) THEN
      BEGIN
        EXECUTE format('CREATE ROLE %I NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS', name);
      EXCEPTION WHEN duplicate_object OR unique_violation THEN
        NULL;
      END;
    END IF;
    IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = name AND (rolsuper OR rolbypassrls)) THEN
      RAISE EXCEPTION 'role % must be neither a superuser nor exempt from row-level security', name;
    END IF;
    -- Asked of the catalog, not of pg_has_role: since PostgreSQL 16 the creator of a role has the
    -- ADMIN option only, which neither lets it SET ROLE nor give objects to the role.
    IF NOT EXISTS (
      SELECT 1 FROM pg_auth_members m
      JOIN pg_roles r ON r.oid = m.roleid
      JOIN pg_roles u ON u.oid = m.member
      WHERE r.rolname = name AND u.rolname = current_user
        AND coalesce((to_jsonb(m) ->> 'set_option')::boolean, true)
    ) THEN
      EXECUTE format('GRANT %I TO CURRENT_USER', name);
    END IF;
  END LOOP;
END
$$;

GRANT USAGE ON SCHEMA public TO governance_app, governance_ingest, governance_lookup;
-- Permanently for ingest (it makes the ledger's partitions), until the end of this file for lookup.
GRANT CREATE ON SCHEMA public TO governance_ingest, governance_lookup;

-- The tenant of the running transaction; NULL when none is set. SET LOCAL leaves an empty string
-- behind after COMMIT, hence NULLIF: no tenant must never mean every tenant.
CREATE FUNCTION app_current_tenant() RETURNS uuid
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN NULLIF(current_setting('app.tenant_id', true), '')::uuid;

-- Whether the transaction was opened by inPlatform.
CREATE FUNCTION app_is_platform() RETURNS boolean
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN coalesce(current_setting('app.platform', true), '') = 'on';

CREATE TABLE tenants (
  id uuid PRIMARY KEY,
  name text NOT NULL UNIQUE,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'suspended')),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);

CREATE TABLE administrators (
  tenant_id uuid NOT NULL REFERENCES tenants (id),
  id uuid NOT NULL,
  username text NOT NULL UNIQUE,
  password_hash text NOT NULL,
  role text NOT NULL DEFAULT 'admin' CHECK (role IN ('admin')),
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'disabled')),
  token_version integer NOT NULL DEFAULT 1,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, id)
);

CREATE TABLE agents (
  tenant_id uuid NOT NULL REFERENCES tenants (id),
  id uuid NOT NULL,
  name text NOT NULL,
  agent_type text NOT NULL,
  owner text NOT NULL,
  description text NOT NULL DEFAULT '',
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'suspended', 'deprovisioned')),
  risk_score double precision NOT NULL DEFAULT 0 CHECK (risk_score BETWEEN 0 AND 100),
  risk_tier text NOT NULL DEFAULT 'low' CHECK (risk_tier IN ('low', 'medium', 'high', 'critical')),
  client_id text NOT NULL UNIQUE,
  secret_hash text NOT NULL,
  credential_version integer NOT NULL DEFAULT 1,
  kill_released_generation integer NOT NULL DEFAULT 0,
  baseline_status text NOT NULL DEFAULT 'none',
  has_recent_drift boolean NOT NULL DEFAULT false,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX agents_tenant_id_created_at_id_idx ON agents (tenant_id, created_at, id);
-- The status that holds under the kill switch depends on both.
CREATE INDEX agents_tenant_id_status_idx ON agents (tenant_id, status, kill_released_generation);

CREATE TABLE roles (
  tenant_id uuid NOT NULL REFERENCES tenants (id),
  id uuid NOT NULL,
  name text NOT NULL,
  description text NOT NULL DEFAULT '',
  permissions text[] NOT NULL DEFAULT '{}',
  resource_scopes text[] NOT NULL DEFAULT '{}',
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, name)
);

CREATE TABLE agent_roles (
  tenant_id uuid NOT NULL,
  agent_id uuid NOT NULL,
  role_id uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, agent_id, role_id),
  FOREIGN KEY (tenant_id, agent_id) REFERENCES agents (tenant_id, id) ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, role_id) REFERENCES roles (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX agent_roles_tenant_id_role_id_idx ON agent_roles (tenant_id, role_id);

CREATE TABLE policies (
  tenant_id uuid NOT NULL REFERENCES tenants (id),
  id uuid NOT NULL,
  name text NOT NULL,
  description text NOT NULL DEFAULT '',
  rego_content text NOT NULL,
  status text NOT NULL DEFAULT 'draft' CHECK (status IN ('draft', 'active', 'archived')),
  origin text NOT NULL DEFAULT 'custom' CHECK (origin IN ('baseline', 'custom')),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX policies_tenant_id_name_key ON policies (tenant_id, name) WHERE status <> 'archived';

CREATE TABLE mcp_servers (
  tenant_id uuid NOT NULL REFERENCES tenants (id),
  server_id text NOT NULL,
  transport text NOT NULL CHECK (transport IN ('streamable-http', 'stdio')),
  url text,
  local_name text,
  credential_ciphertext bytea,
  enabled boolean NOT NULL DEFAULT true,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, server_id),
  -- A stdio server is a command of the data plane's operator; the API may name it, never carry it.
  CHECK ((transport = 'streamable-http') = (url IS NOT NULL)),
  CHECK ((transport = 'stdio') = (local_name IS NOT NULL))
);

CREATE TABLE bundles (
  tenant_id uuid NOT NULL REFERENCES tenants (id),
  revision bigint NOT NULL,
  digest text NOT NULL,
  content_digest text NOT NULL,
  sources_digest text NOT NULL,
  bytes bytea NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, revision)
);

CREATE TABLE data_plane_tokens (
  tenant_id uuid NOT NULL REFERENCES tenants (id),
  id uuid NOT NULL,
  label text NOT NULL,
  deployment_id uuid,
  region text NOT NULL DEFAULT '',
  token_hash text NOT NULL UNIQUE,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  PRIMARY KEY (tenant_id, id)
);

CREATE TABLE data_planes (
  tenant_id uuid NOT NULL REFERENCES tenants (id),
  deployment_id uuid NOT NULL,
  label text NOT NULL DEFAULT '',
  region text NOT NULL DEFAULT '',
  version text NOT NULL DEFAULT '',
  signing_key text NOT NULL,
  sealing_key text NOT NULL,
  token_key text,
  last_heartbeat_at timestamptz(3),
  last_heartbeat text,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, deployment_id)
);

-- Sequences commit out of order, so a tenant's numbers come from this one row, locked last.
CREATE TABLE tenant_heads (
  tenant_id uuid PRIMARY KEY REFERENCES tenants (id),
  feed_seq bigint NOT NULL DEFAULT 0,
  admin_stream uuid NOT NULL,
  admin_epoch integer NOT NULL DEFAULT 1,
  admin_seq bigint NOT NULL DEFAULT 0,
  admin_head text NOT NULL,
  bundle_revision bigint NOT NULL DEFAULT 0,
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);

CREATE TABLE feed_entries (
  tenant_id uuid NOT NULL REFERENCES tenants (id),
  seq bigint NOT NULL,
  kind text NOT NULL,
  key text NOT NULL,
  value text,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, seq)
);
CREATE INDEX feed_entries_tenant_id_kind_key_seq_idx ON feed_entries (tenant_id, kind, key, seq);

CREATE TABLE kill_switches (
  tenant_id uuid PRIMARY KEY REFERENCES tenants (id),
  generation integer NOT NULL DEFAULT 0,
  engaged boolean NOT NULL DEFAULT false,
  -- Who holds it engaged: the tenant, a super-admin for all tenants, or both.
  scopes text[] NOT NULL DEFAULT '{}' CHECK (scopes <@ ARRAY['tenant', 'all']),
  reason text,
  actor text,
  engaged_at timestamptz(3),
  lifted_at timestamptz(3),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  CHECK (engaged = (cardinality(scopes) > 0))
);

CREATE TABLE alerts (
  tenant_id uuid NOT NULL REFERENCES tenants (id),
  id uuid NOT NULL,
  alert_type text NOT NULL,
  severity text NOT NULL CHECK (severity IN ('info', 'low', 'medium', 'high', 'critical')),
  status text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'acknowledged', 'resolved')),
  agent_id uuid,
  title text NOT NULL,
  details text NOT NULL DEFAULT '{}',
  dedupe_key text,
  resolved_by text,
  resolved_at timestamptz(3),
  -- Of the outbound webhook, which takes its work from here.
  delivery_attempts integer NOT NULL DEFAULT 0,
  deliver_after timestamptz(3) NOT NULL DEFAULT now(),
  delivered_at timestamptz(3),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, dedupe_key)
);
CREATE INDEX alerts_tenant_id_created_at_idx ON alerts (tenant_id, created_at);
CREATE INDEX alerts_undelivered_idx ON alerts (tenant_id, deliver_after)
  WHERE delivered_at IS NULL AND status = 'open';

CREATE TABLE chain_breaks (
  tenant_id uuid NOT NULL REFERENCES tenants (id),
  id uuid NOT NULL,
  stream uuid NOT NULL,
  epoch integer NOT NULL,
  seq bigint NOT NULL,
  kind text NOT NULL,
  expected text,
  actual text,
  detail text,
  detected_at timestamptz(3) NOT NULL DEFAULT now(),
  acknowledged_at timestamptz(3),
  acknowledged_by text,
  notes text,
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, stream, epoch, seq, kind)
);

-- The ledger: what ingest writes in bulk. Event bytes are kept verbatim: jsonb drops duplicate
-- keys, reorders, and refuses text that a hostile tool argument may hold.
CREATE TABLE ledger_records (
  tenant_id uuid NOT NULL,
  received_at timestamptz(3) NOT NULL,
  position bigint NOT NULL,
  stream uuid NOT NULL,
  epoch integer NOT NULL,
  seq bigint NOT NULL,
  type text NOT NULL,
  id uuid NOT NULL,
  subject_id uuid,
  agent_id uuid,
  policy_result text,
  event_time timestamptz(3) NOT NULL,
  hash text NOT NULL,
  prev_hash text NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (tenant_id, received_at, position)
) PARTITION BY RANGE (received_at);
CREATE INDEX ledger_records_position_idx ON ledger_records (tenant_id, position);
-- What the list of audit events shows, newest first; outcomes are joined to their decisions.
CREATE INDEX ledger_records_event_idx ON ledger_records (tenant_id, event_time DESC, position DESC)
  WHERE type IN ('decision', 'admin_action');
CREATE INDEX ledger_records_agent_idx ON ledger_records (tenant_id, agent_id, event_time DESC)
  WHERE type = 'decision';
CREATE INDEX ledger_records_decision_idx ON ledger_records (tenant_id, policy_result, event_time DESC)
  WHERE type = 'decision';
CREATE INDEX ledger_records_subject_idx ON ledger_records (tenant_id, subject_id)
  WHERE subject_id IS NOT NULL;
CREATE INDEX ledger_records_chain_idx ON ledger_records (tenant_id, stream, epoch, seq);
CREATE INDEX ledger_records_id_idx ON ledger_records (tenant_id, id);

-- An insert must never fail for want of a month's partition.
CREATE TABLE ledger_records_default PARTITION OF ledger_records DEFAULT;

CREATE TABLE stream_heads (
  tenant_id uuid NOT NULL,
  stream uuid NOT NULL,
  epoch integer NOT NULL,
  next_seq bigint NOT NULL,
  head text NOT NULL,
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, stream)
);

-- The signatures under which the records came: what a data plane signed, the control plane cannot
-- rewrite. `header` is canonical JSON, verbatim.
CREATE TABLE ledger_batches (
  tenant_id uuid NOT NULL,
  stream uuid NOT NULL,
  epoch integer NOT NULL,
  last_seq bigint NOT NULL,
  first_seq bigint NOT NULL,
  header text NOT NULL,
  signature text NOT NULL,
  received_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, stream, epoch, last_seq)
);

CREATE TABLE tenant_positions (
  tenant_id uuid PRIMARY KEY,
  position bigint NOT NULL DEFAULT 0
);

CREATE TABLE service_keys (
  kid text PRIMARY KEY,
  purpose text NOT NULL,
  public_jwk text NOT NULL,
  private_ciphertext bytea NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  retired_at timestamptz(3)
);
CREATE INDEX service_keys_purpose_created_at_idx ON service_keys (purpose, created_at);

-- Row-level security. FORCE holds the owner too; the ledger tables go without it, because their
-- owner is the ingest role and COPY is refused where a policy applies.
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY[
    'administrators', 'agents', 'roles', 'agent_roles', 'policies', 'mcp_servers', 'bundles',
    'data_plane_tokens', 'data_planes', 'tenant_heads', 'feed_entries', 'kill_switches', 'alerts',
    'chain_breaks', 'ledger_records', 'ledger_batches', 'stream_heads', 'tenant_positions'
  ] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format(
      'CREATE POLICY tenant_isolation ON %I USING (tenant_id = app_current_tenant()) '
      'WITH CHECK (tenant_id = app_current_tenant())', name);
    IF name NOT IN ('ledger_records', 'ledger_batches', 'stream_heads', 'tenant_positions') THEN
      EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    END IF;
  END LOOP;
END
$$;
-- No policy: nobody but the owner reaches a partition directly.
ALTER TABLE ledger_records_default ENABLE ROW LEVEL SECURITY;

ALTER TABLE tenants ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenants FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON tenants
  USING (id = app_current_tenant()) WITH CHECK (id = app_current_tenant());
CREATE POLICY platform_reads ON tenants FOR SELECT USING (app_is_platform());

ALTER TABLE service_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE service_keys FORCE ROW LEVEL SECURITY;
CREATE POLICY platform_only ON service_keys
  USING (app_is_platform()) WITH CHECK (app_is_platform());

-- What the application may do. The ledger is insert and select only.
GRANT SELECT, INSERT, UPDATE ON
  tenants, agents, roles, policies, data_plane_tokens, data_planes, tenant_heads, kill_switches,
  alerts, chain_breaks, tenant_positions
  TO governance_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON administrators, agent_roles, mcp_servers TO governance_app;
GRANT SELECT, INSERT, DELETE ON bundles, feed_entries TO governance_app;
GRANT SELECT, INSERT ON ledger_records, service_keys TO governance_app;
GRANT SELECT ON ledger_batches, stream_heads TO governance_app;

-- What ingest may do beside its own tables, held by row-level security there.
GRANT SELECT, INSERT, UPDATE ON alerts TO governance_ingest;
GRANT SELECT, INSERT ON chain_breaks TO governance_ingest;
GRANT SELECT ON data_planes, agents TO governance_ingest;

ALTER TABLE ledger_records OWNER TO governance_ingest;
ALTER TABLE ledger_records_default OWNER TO governance_ingest;
ALTER TABLE ledger_batches OWNER TO governance_ingest;
ALTER TABLE stream_heads OWNER TO governance_ingest;
ALTER TABLE tenant_positions OWNER TO governance_ingest;

-- Partitions of the ledger from this month to `months_ahead` months on. A month whose rows already
-- lie in the default partition is left there: moving them would lock the ledger.
-- Returns how many partitions were made.
CREATE FUNCTION ensure_ledger_partitions(months_ahead integer) RETURNS integer
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  month timestamp := date_trunc('month', now() AT TIME ZONE 'UTC');
  partition_name text;
  made integer := 0;
BEGIN
  IF months_ahead NOT BETWEEN 0 AND 24 THEN
    RAISE EXCEPTION 'months_ahead must lie between 0 and 24';
  END IF;
  -- Several replicas may ask at once.
  PERFORM pg_advisory_xact_lock(hashtext('governance.ensure_ledger_partitions'));
  FOR i IN 0..months_ahead LOOP
    partition_name := 'ledger_records_' || to_char(month, '"y"YYYY"m"MM');
    IF to_regclass('public.' || partition_name) IS NULL THEN
      BEGIN
        EXECUTE format(
          'CREATE TABLE public.%I PARTITION OF public.ledger_records FOR VALUES FROM (%L) TO (%L)',
          partition_name, month AT TIME ZONE 'UTC', (month + interval '1 month') AT TIME ZONE 'UTC');
        EXECUTE format('ALTER TABLE public.%I ENABLE ROW LEVEL SECURITY', partition_name);
        made := made + 1;
      EXCEPTION WHEN check_violation THEN
        RAISE WARNING 'the default partition already holds rows of %', partition_name;
      END;
    END IF;
    month := month + interval '1 month';
  END LOOP;
  RETURN made;
END
$$;
ALTER FUNCTION ensure_ledger_partitions(integer) OWNER TO governance_ingest;

-- The look-ups that come before a tenant is known. FORCE holds their owner too, so they run as a
-- role that a policy admits to every row, but only to these columns and only through these functions.
GRANT SELECT (tenant_id, id, username, password_hash, role, status, token_version)
  ON administrators TO governance_lookup;
GRANT SELECT (tenant_id, id, client_id) ON agents TO governance_lookup;
GRANT SELECT (tenant_id, id, token_hash, deployment_id, region, expires_at, revoked_at)
  ON data_plane_tokens TO governance_lookup;
CREATE POLICY lookup_reads ON administrators FOR SELECT TO governance_lookup USING (true);
CREATE POLICY lookup_reads ON agents FOR SELECT TO governance_lookup USING (true);
CREATE POLICY lookup_reads ON data_plane_tokens FOR SELECT TO governance_lookup USING (true);

CREATE FUNCTION find_login(wanted_username text)
  RETURNS TABLE (tenant_id uuid, id uuid, password_hash text, role text, status text, token_version integer)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT a.tenant_id, a.id, a.password_hash, a.role, a.status, a.token_version
  FROM public.administrators a WHERE a.username = wanted_username
$$;

CREATE FUNCTION find_client(wanted_client_id text)
  RETURNS TABLE (tenant_id uuid, agent_id uuid)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT a.tenant_id, a.id FROM public.agents a WHERE a.client_id = wanted_client_id
$$;

CREATE FUNCTION find_data_plane_token(wanted_token_hash text)
  RETURNS TABLE (
    tenant_id uuid, id uuid, deployment_id uuid, region text,
    expires_at timestamptz, revoked_at timestamptz)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT t.tenant_id, t.id, t.deployment_id, t.region, t.expires_at, t.revoked_at
  FROM public.data_plane_tokens t WHERE t.token_hash = wanted_token_hash
$$;

ALTER FUNCTION find_login(text) OWNER TO governance_lookup;
ALTER FUNCTION find_client(text) OWNER TO governance_lookup;
ALTER FUNCTION find_data_plane_token(text) OWNER TO governance_lookup;
REVOKE CREATE ON SCHEMA public FROM governance_lookup;

REVOKE ALL ON FUNCTION
  find_login(text), find_client(text), find_data_plane_token(text), ensure_ledger_partitions(integer)
  FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
  find_login(text), find_client(text), find_data_plane_token(text), ensure_ledger_partitions(integer)
  TO governance_app;
GRANT EXECUTE ON FUNCTION ensure_ledger_partitions(integer) TO governance_ingest;
