-- Two planes: what data planes over a network need beside the first schema.
-- tests: control-plane/src/platform/row-level-security.pg.test.ts

-- A token that a registration or a renewal made names the one that an administrator issued, so that
-- revoking that one ends all that came of it.
ALTER TABLE data_plane_tokens ADD COLUMN root_id uuid;
CREATE INDEX data_plane_tokens_root_idx ON data_plane_tokens (tenant_id, root_id)
  WHERE root_id IS NOT NULL;
CREATE INDEX data_plane_tokens_deployment_idx ON data_plane_tokens (tenant_id, deployment_id)
  WHERE deployment_id IS NOT NULL;
-- Those that registrations and renewals made, long after their end.
GRANT DELETE ON data_plane_tokens TO governance_app;

-- `revoked`: may only hand in its backlog. `forked`: two writers used its key; it registers anew.
ALTER TABLE data_planes
  ADD COLUMN status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'revoked', 'forked')),
  ADD COLUMN status_at timestamptz(3),
  -- What it told while it read its feed.
  ADD COLUMN feed_cursor bigint,
  ADD COLUMN feed_read_at timestamptz(3),
  ADD COLUMN backlog_records bigint,
  -- When an alert said that its heartbeats stay away; null again once it was heard of.
  ADD COLUMN silence_reported_at timestamptz(3);
CREATE INDEX data_planes_heartbeat_idx ON data_planes (tenant_id, last_heartbeat_at)
  WHERE status = 'active' AND silence_reported_at IS NULL;
CREATE INDEX data_planes_silence_idx ON data_planes (tenant_id)
  WHERE silence_reported_at IS NOT NULL;

-- The feed's digest (shared/src/feed-chain.ts), and up to where superseded entries were removed:
-- who stands before that reads a snapshot. Entries of the first schema have no digest, so what
-- was read before this migration is read once more.
ALTER TABLE feed_entries ADD COLUMN digest text NOT NULL DEFAULT '';
ALTER TABLE tenant_heads
  ADD COLUMN feed_digest text NOT NULL DEFAULT repeat('0', 64),
  ADD COLUMN compacted_seq bigint NOT NULL DEFAULT 0,
  ADD COLUMN compacted_digest text NOT NULL DEFAULT repeat('0', 64);
-- (Who migrates owns the table and may be held by row-level security all the same.)
ALTER TABLE tenant_heads NO FORCE ROW LEVEL SECURITY;
UPDATE tenant_heads SET compacted_seq = feed_seq;
ALTER TABLE tenant_heads FORCE ROW LEVEL SECURITY;

-- What a data plane sent and the ledger could not take: records that contradict the stored stream,
-- and records that could not be read. Kept verbatim as evidence, never shown as events.
CREATE TABLE ledger_quarantine (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  stream uuid NOT NULL,
  epoch integer NOT NULL,
  seq bigint NOT NULL,
  kind text NOT NULL CHECK (kind IN ('fork', 'unreadable')),
  hash text NOT NULL,
  reason text NOT NULL,
  bytes bytea NOT NULL,
  received_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, id),
  -- The same batch again adds nothing.
  UNIQUE (tenant_id, stream, epoch, seq, hash)
);
ALTER TABLE ledger_quarantine ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON ledger_quarantine
  USING (tenant_id = app_current_tenant()) WITH CHECK (tenant_id = app_current_tenant());
GRANT SELECT ON ledger_quarantine TO governance_app;
ALTER TABLE ledger_quarantine OWNER TO governance_ingest;
