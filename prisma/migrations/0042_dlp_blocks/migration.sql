-- What data loss prevention blocked, newest first: the list of audit events finds it by the result
-- dlp_block. Records have a denial with the dlp_action "blocked" there, or, of early writers, that
-- result itself. The first dlp_action of a record's canonical bytes is the record's own: members
-- that could hold another come behind it.
-- The list repeats this condition word for word (control-plane/src/audit/audit-store.ts).
-- tests: control-plane/src/audit/dlp-blocks.pg.test.ts
CREATE INDEX ledger_records_dlp_block_idx ON ledger_records (tenant_id, event_time DESC, position DESC)
  WHERE type = 'decision' AND (policy_result = 'dlp_block' OR (policy_result = 'deny'
    AND substring(bytes FROM position('"dlp_action":'::bytea IN bytes) + 13 FOR 9) = '"blocked"'::bytea));
