-- A time with an offset could lead into the year 10000, which nothing can write with four digits: each
-- list that held such a row failed. Those times become the last that can be written. FORCE holds the
-- owner of the tables to a tenant as well.
-- tests: control-plane/src/platform/migrations.pg.test.ts
ALTER TABLE policy_replays NO FORCE ROW LEVEL SECURITY;
UPDATE policy_replays
  SET from_time = least(from_time, '9999-12-31 23:59:59.998Z'), to_time = '9999-12-31 23:59:59.999Z'
  WHERE to_time >= '10000-01-01 00:00:00Z';
ALTER TABLE policy_replays ADD CHECK (to_time < '10000-01-01 00:00:00Z');
ALTER TABLE policy_replays FORCE ROW LEVEL SECURITY;

ALTER TABLE evidence_packages NO FORCE ROW LEVEL SECURITY;
UPDATE evidence_packages
  SET from_time = least(from_time, '9999-12-31 23:59:59.998Z'), to_time = '9999-12-31 23:59:59.999Z'
  WHERE to_time >= '10000-01-01 00:00:00Z';
ALTER TABLE evidence_packages ADD CHECK (to_time < '10000-01-01 00:00:00Z');
ALTER TABLE evidence_packages FORCE ROW LEVEL SECURITY;
