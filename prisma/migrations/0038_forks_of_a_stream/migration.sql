-- Each fork counts what is kept of its stream's forks: at most 1,000, whatever else of the stream is in
-- quarantine.
-- tests: control-plane/src/ingest/quarantine.pg.test.ts
CREATE INDEX ledger_quarantine_forks ON ledger_quarantine (tenant_id, stream, hash)
  WHERE kind = 'fork';
