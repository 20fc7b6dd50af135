-- Data planes choose event ids: one that repeated another one's kept the other's payload out, and was
-- shown in its place. The index of the key is built anew, about a second for each million rows.
-- tests: control-plane/src/payloads/payload-routes.pg.test.ts
ALTER TABLE event_payloads DROP CONSTRAINT event_payloads_pkey,
  ADD PRIMARY KEY (tenant_id, event_id, part, deployment_id);
