-- The log of a tenant: an RFC 6962 tree whose leaves are the signed batches, in the order of receipt.
-- tests: control-plane/src/evidence/log.pg.test.ts

-- The next leaf's index: taken in the statement that takes the records' positions.
ALTER TABLE tenant_positions ADD COLUMN log_size bigint NOT NULL DEFAULT 0;

-- first_time and last_time: of the records in it by their writer's clock, to find what an export is
-- asked for.
ALTER TABLE ledger_batches
  ADD COLUMN leaf_index bigint,
  ADD COLUMN first_time timestamptz(3),
  ADD COLUMN last_time timestamptz(3);

-- Whoever migrates owns these tables by membership, and none of them forces row-level security.
UPDATE ledger_batches b SET leaf_index = o.leaf_index
FROM (
  SELECT tenant_id, stream, epoch, last_seq,
    row_number() OVER (PARTITION BY tenant_id ORDER BY received_at, stream, epoch, last_seq) - 1
      AS leaf_index
  FROM ledger_batches
) o
WHERE (b.tenant_id, b.stream, b.epoch, b.last_seq) = (o.tenant_id, o.stream, o.epoch, o.last_seq);

UPDATE ledger_batches b SET
  first_time = coalesce(t.first_time, b.received_at), last_time = coalesce(t.last_time, b.received_at)
FROM ledger_batches same LEFT JOIN LATERAL (
  SELECT min(event_time) AS first_time, max(event_time) AS last_time FROM ledger_records r
  WHERE r.tenant_id = same.tenant_id AND r.stream = same.stream AND r.epoch = same.epoch
    AND r.seq BETWEEN same.first_seq AND same.last_seq AND r.type <> 'quarantined'
) t ON true
WHERE (b.tenant_id, b.stream, b.epoch, b.last_seq)
  = (same.tenant_id, same.stream, same.epoch, same.last_seq);

UPDATE tenant_positions p SET log_size = l.size
FROM (SELECT tenant_id, count(*) AS size FROM ledger_batches GROUP BY tenant_id) l
WHERE p.tenant_id = l.tenant_id;

-- An older version's insert fails from here on: its data planes send again to the newer one.
ALTER TABLE ledger_batches
  ALTER COLUMN leaf_index SET NOT NULL,
  ALTER COLUMN first_time SET NOT NULL,
  ALTER COLUMN last_time SET NOT NULL;
CREATE UNIQUE INDEX ledger_batches_leaf_idx ON ledger_batches (tenant_id, leaf_index);
-- The admin chain's batches, which the service signs itself.
GRANT INSERT ON ledger_batches TO governance_app;

-- The roots of the perfect subtrees: level 0 has the leaves' hashes. A root, a proof and a frontier
-- read as many of them as the tree is high.
CREATE TABLE log_nodes (
  tenant_id uuid NOT NULL,
  level smallint NOT NULL,
  idx bigint NOT NULL,
  hash bytea NOT NULL CHECK (octet_length(hash) = 32),
  PRIMARY KEY (tenant_id, level, idx)
);

-- How far the tree was computed, and the admin chain put into batches. No row: not at all.
CREATE TABLE log_heads (
  tenant_id uuid NOT NULL PRIMARY KEY,
  epoch integer NOT NULL DEFAULT 1 CHECK (epoch > 0),
  size bigint NOT NULL DEFAULT 0,
  admin_epoch integer NOT NULL DEFAULT 0,
  admin_seq bigint NOT NULL DEFAULT 0,
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);

-- C2SP tlog-checkpoint notes.
CREATE TABLE log_checkpoints (
  tenant_id uuid NOT NULL,
  epoch integer NOT NULL,
  size bigint NOT NULL,
  root text NOT NULL,
  note text NOT NULL,
  made_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, epoch, size)
);
CREATE INDEX log_checkpoints_made_idx ON log_checkpoints (tenant_id, made_at);

-- What was served as an anchor: packages show that their tree and those are of one log.
CREATE TABLE log_anchors (
  tenant_id uuid NOT NULL,
  epoch integer NOT NULL,
  size bigint NOT NULL,
  root text NOT NULL,
  issued_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, epoch, size)
);

-- Beginnings of log epochs after the first: the signed statement of each.
CREATE TABLE log_epochs (
  tenant_id uuid NOT NULL,
  epoch integer NOT NULL CHECK (epoch > 1),
  statement text NOT NULL,
  kid text NOT NULL,
  signature text NOT NULL,
  begun_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, epoch)
);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY[
    'log_nodes', 'log_heads', 'log_checkpoints', 'log_anchors', 'log_epochs'
  ] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format(
      'CREATE POLICY tenant_isolation ON %I USING (tenant_id = app_current_tenant()) '
      'WITH CHECK (tenant_id = app_current_tenant())', name);
  END LOOP;
END
$$;
GRANT SELECT, INSERT ON log_nodes, log_epochs TO governance_app;
GRANT SELECT, INSERT, UPDATE ON log_heads TO governance_app;
GRANT SELECT, INSERT, DELETE ON log_checkpoints, log_anchors TO governance_app;

-- Whose logs have grown: the task that looks every second or two must not open a transaction for
-- each tenant. It tells ids of tenants.
GRANT SELECT (tenant_id, log_size) ON tenant_positions TO governance_lookup;
GRANT SELECT (tenant_id, admin_epoch, admin_seq) ON tenant_heads TO governance_lookup;
GRANT SELECT (tenant_id, size, admin_epoch, admin_seq) ON log_heads TO governance_lookup;
CREATE POLICY lookup_reads ON tenant_positions FOR SELECT TO governance_lookup USING (true);
CREATE POLICY lookup_reads ON tenant_heads FOR SELECT TO governance_lookup USING (true);
CREATE POLICY lookup_reads ON log_heads FOR SELECT TO governance_lookup USING (true);
GRANT CREATE ON SCHEMA public TO governance_lookup;

CREATE FUNCTION find_grown_logs() RETURNS TABLE (tenant_id uuid)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT t.tenant_id
  FROM public.tenant_heads t
  LEFT JOIN public.tenant_positions p ON p.tenant_id = t.tenant_id
  LEFT JOIN public.log_heads l ON l.tenant_id = t.tenant_id
  WHERE coalesce(p.log_size, 0) > coalesce(l.size, 0)
    OR (t.admin_epoch, t.admin_seq) > (coalesce(l.admin_epoch, 0), coalesce(l.admin_seq, 0))
       AND t.admin_seq > 0
$$;

ALTER FUNCTION find_grown_logs() OWNER TO governance_lookup;
REVOKE CREATE ON SCHEMA public FROM governance_lookup;
REVOKE ALL ON FUNCTION find_grown_logs() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_grown_logs() TO governance_app;
