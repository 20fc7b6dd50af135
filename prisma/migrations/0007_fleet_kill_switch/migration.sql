-- The kill switch of all tenants: what was ordered last, kept before any tenant is changed, so that
-- another replica finishes what one that died began, and a tenant made later begins under it.
-- tests: control-plane/src/kill-switch/fleet-kill-switch.pg.test.ts
CREATE TABLE fleet_kill_switch (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  generation integer NOT NULL,
  -- Up to which generation every tenant has it.
  done_generation integer NOT NULL DEFAULT 0,
  engaged boolean NOT NULL,
  reason text,
  actor_id text NOT NULL,
  actor_username text NOT NULL,
  request_id text NOT NULL,
  changed_at timestamptz(3) NOT NULL
);
ALTER TABLE fleet_kill_switch ENABLE ROW LEVEL SECURITY;
ALTER TABLE fleet_kill_switch FORCE ROW LEVEL SECURITY;
CREATE POLICY platform_only ON fleet_kill_switch
  USING (app_is_platform()) WITH CHECK (app_is_platform());
-- The transaction that makes a tenant has to know.
CREATE POLICY all_read ON fleet_kill_switch FOR SELECT USING (true);
GRANT SELECT, INSERT, UPDATE ON fleet_kill_switch TO governance_app;

-- Which of those orders the tenant has taken, so that none is taken twice.
ALTER TABLE kill_switches ADD COLUMN fleet_generation integer NOT NULL DEFAULT 0;
