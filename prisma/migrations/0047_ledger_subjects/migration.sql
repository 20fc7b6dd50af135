-- What was recorded about a call, by the data plane that wrote it and the type, in the order of
-- receipt: its newest outcome and the first start of its answer are one entry each, however much
-- anybody writes about its id. In place of ledger_records_subject_idx, of which it has the beginning.
-- Costs: it is built anew for all that is stored, some seconds for each million records, and nothing
-- is ingested meanwhile (data planes send it again); then about 50 bytes more for each record about a
-- call, which is one or two a call.
-- tests: control-plane/src/chain/look-up-plans.pg.test.ts, control-plane/src/audit/answer-started.pg.test.ts
CREATE INDEX ledger_records_about_idx
  ON ledger_records (tenant_id, subject_id, stream, type, position) WHERE subject_id IS NOT NULL;
DROP INDEX ledger_records_subject_idx;
