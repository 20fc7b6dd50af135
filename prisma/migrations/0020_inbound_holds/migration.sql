-- Results that wait for a person, beside the calls that do: what was found, and how they are released.
-- tests: control-plane/src/escalations/inbound-hold-routes.pg.test.ts
ALTER TABLE escalations
  ADD COLUMN severity text,
  ADD COLUMN findings jsonb,
  ADD COLUMN findings_count integer,
  ADD COLUMN result_bytes integer,
  -- How an approved result is handed over.
  ADD COLUMN release text CHECK (release IN ('original', 'sanitized')),
  ADD CHECK ((held = 'result' AND status = 'approved') = (release IS NOT NULL)),
  ADD CHECK (held = 'call' OR (severity IS NOT NULL AND findings IS NOT NULL
    AND findings_count IS NOT NULL AND result_bytes IS NOT NULL));
CREATE INDEX escalations_by_held ON escalations (tenant_id, held, opened_at DESC, id DESC);
