-- A policy's row, and an approval's, name the admin record that made them what they are, and carry the
-- service's signature over both: bundles and the feed hand over nothing that a hand wrote here. Rows of
-- earlier versions have neither.
-- tests: control-plane/src/policies/policy-records.pg.test.ts,
-- control-plane/src/escalations/approval-check.pg.test.ts
ALTER TABLE policies ADD COLUMN record_id uuid, ADD COLUMN attestation text;
ALTER TABLE escalations ADD COLUMN record_id uuid, ADD COLUMN attestation text;

-- The changes of policies among all records, newest first. The action is the first member of a record's
-- canonical bytes. The look-up repeats this condition word for word
-- (control-plane/src/policies/newest-records.ts).
CREATE INDEX ledger_records_policy_idx ON ledger_records (tenant_id, position DESC)
  WHERE type = 'admin_action' AND substring(bytes FROM 1 FOR 25) IN (
    '{"action":"policy_created', '{"action":"policy_updated', '{"action":"policy_activat',
    '{"action":"policy_archive', '{"action":"policy_restore', '{"action":"policy_deactiv');
