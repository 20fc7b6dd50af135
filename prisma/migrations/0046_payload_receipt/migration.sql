-- Once a clock that was ahead is put back, what was received meanwhile counts as received now: a
-- payload would otherwise outlive its retention by as much.
-- tests: control-plane/src/payloads/payload-count.pg.test.ts
GRANT UPDATE (received_at) ON event_payloads TO governance_app;
