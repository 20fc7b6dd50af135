-- When an alert was posted last, and what went wrong then.
-- tests: control-plane/src/alerts/alert-webhook.pg.test.ts
ALTER TABLE alerts ADD COLUMN attempted_at timestamptz(3), ADD COLUMN delivery_error text;
CREATE INDEX alerts_deliveries_idx ON alerts (tenant_id, attempted_at DESC, id)
  WHERE attempted_at IS NOT NULL;
