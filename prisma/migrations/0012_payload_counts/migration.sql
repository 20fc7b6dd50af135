-- How many events have a payload: counted where payloads come and go, so that telling it costs one row.
-- tests: control-plane/src/payloads/payload-count.pg.test.ts
CREATE TABLE payload_counts (
  tenant_id uuid PRIMARY KEY REFERENCES tenants (id),
  events bigint NOT NULL,
  counted_at timestamptz(3) NOT NULL DEFAULT now()
);

-- The owner of the tables is held to the tenant as well.
ALTER TABLE event_payloads NO FORCE ROW LEVEL SECURITY;
INSERT INTO payload_counts (tenant_id, events)
  SELECT tenant_id, count(DISTINCT event_id) FROM event_payloads GROUP BY tenant_id;
ALTER TABLE event_payloads FORCE ROW LEVEL SECURITY;

ALTER TABLE payload_counts ENABLE ROW LEVEL SECURITY;
ALTER TABLE payload_counts FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON payload_counts USING (tenant_id = app_current_tenant())
  WITH CHECK (tenant_id = app_current_tenant());
GRANT SELECT, INSERT, UPDATE ON payload_counts TO governance_app;
