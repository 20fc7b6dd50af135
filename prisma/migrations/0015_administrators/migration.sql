-- Administrators have roles, and the password that the environment gives follows it only when it
-- changes there.
-- tests: control-plane/src/administrators/administrator-routes.pg.test.ts
ALTER TABLE administrators DROP CONSTRAINT administrators_role_check;
ALTER TABLE administrators ADD CONSTRAINT administrators_role_check
  CHECK (role IN ('admin', 'approver', 'auditor'));
-- The hash of the environment's password that was taken over last. Null: password_hash is it.
ALTER TABLE administrators ADD COLUMN environment_hash text;
CREATE INDEX administrators_lower_username_idx ON administrators (lower(username));

-- The version before asks find_login and knows one role: an approver is nobody to it.
CREATE OR REPLACE FUNCTION find_login(wanted_username text)
  RETURNS TABLE (tenant_id uuid, id uuid, password_hash text, role text, status text, token_version integer)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT a.tenant_id, a.id, a.password_hash, a.role, a.status, a.token_version
  FROM public.administrators a WHERE a.username = wanted_username AND a.role = 'admin'
$$;

GRANT CREATE ON SCHEMA public TO governance_lookup;
-- A name is found in any case. Two that differ in case alone may stand from before: the one that was
-- written goes first.
CREATE FUNCTION find_administrator(wanted_username text)
  RETURNS TABLE (
    tenant_id uuid, id uuid, username text, password_hash text, role text, status text,
    token_version integer)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT a.tenant_id, a.id, a.username, a.password_hash, a.role, a.status, a.token_version
  FROM public.administrators a WHERE lower(a.username) = lower(wanted_username)
  ORDER BY (a.username = wanted_username) DESC, a.id LIMIT 1
$$;
ALTER FUNCTION find_administrator(text) OWNER TO governance_lookup;
REVOKE CREATE ON SCHEMA public FROM governance_lookup;
REVOKE ALL ON FUNCTION find_administrator(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_administrator(text) TO governance_app;
