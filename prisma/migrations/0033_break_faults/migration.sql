-- Several faults can have one place, such as a log epoch without a valid statement: `fault` tells them
-- apart, and is empty where the place and the kind suffice. The constraint's name is PostgreSQL's.
-- tests: control-plane/src/chain/log-epoch-check.pg.test.ts
ALTER TABLE chain_breaks ADD COLUMN fault text NOT NULL DEFAULT '';
UPDATE chain_breaks SET fault = coalesce(detail, '')
  WHERE kind IN ('log_epoch', 'log_node', 'registration');
ALTER TABLE chain_breaks DROP CONSTRAINT chain_breaks_tenant_id_stream_epoch_seq_kind_key;
ALTER TABLE chain_breaks ADD UNIQUE (tenant_id, stream, epoch, seq, kind, fault);
