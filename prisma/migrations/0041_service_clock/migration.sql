-- The newest time that any process of the control plane has shown: a machine's clock that is set
-- back, also while the service is stopped, revives no token. The generation changes when the
-- operator accepts an earlier time.
-- tests: control-plane/src/platform/standing-clock.pg.test.ts
CREATE TABLE service_clock (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  newest timestamptz(3) NOT NULL,
  generation integer NOT NULL DEFAULT 0
);
ALTER TABLE service_clock ENABLE ROW LEVEL SECURITY;
ALTER TABLE service_clock FORCE ROW LEVEL SECURITY;
CREATE POLICY platform_only ON service_clock
  USING (app_is_platform()) WITH CHECK (app_is_platform());
GRANT SELECT, INSERT, UPDATE ON service_clock TO governance_app;
