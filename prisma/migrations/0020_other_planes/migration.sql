-- What waits for a person is told to the tenant's other data planes, so that the same call there is
-- answered with how it stands. `binding` is keyed by what the chain does not have.
-- tests: control-plane/src/escalations/held-elsewhere.pg.test.ts
ALTER TABLE escalations
  ADD COLUMN binding text,
  -- Whether the feed tells other data planes of it.
  ADD COLUMN is_announced boolean NOT NULL DEFAULT false;
CREATE INDEX escalations_to_announce ON escalations (tenant_id)
  WHERE status = 'pending' AND binding IS NOT NULL AND NOT is_announced;
CREATE INDEX escalations_by_binding ON escalations (tenant_id, binding) WHERE is_announced;

GRANT SELECT (binding, is_announced) ON escalations TO governance_lookup;

CREATE OR REPLACE FUNCTION find_overdue_escalations(kept interval) RETURNS TABLE (tenant_id uuid)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT e.tenant_id FROM public.escalations e WHERE e.status = 'pending' AND e.timeout_at <= now()
  UNION
  SELECT e.tenant_id FROM public.escalations e WHERE e.is_in_feed AND e.resolved_at <= now() - kept
  UNION
  SELECT e.tenant_id FROM public.escalations e
  WHERE e.status = 'pending' AND e.binding IS NOT NULL AND NOT e.is_announced
$$;
