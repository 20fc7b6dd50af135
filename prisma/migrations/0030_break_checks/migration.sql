-- Which of the named checks of evidence a break failed; null for breaks that only the control plane
-- can find, and for those recorded before.
-- tests: control-plane/src/chain/log-verification.pg.test.ts
ALTER TABLE chain_breaks ADD COLUMN check_name text;

-- How many leaves of the tenant's log the last whole walk verified.
ALTER TABLE verification_walks ADD COLUMN finished_leaves bigint NOT NULL DEFAULT 0;
