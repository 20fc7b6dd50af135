#!/bin/sh
# Run by the postgres image on its first start: the login of the control plane, which owns its
# database and may make the roles of docs/database.md, and is no superuser.
set -e
psql --set ON_ERROR_STOP=1 --set password="$GOVERNANCE_PASSWORD" \
  --username "${POSTGRES_USER:-postgres}" --dbname postgres <<'SQL'
CREATE ROLE governance LOGIN CREATEROLE PASSWORD :'password';
CREATE DATABASE governance OWNER governance;
SQL
