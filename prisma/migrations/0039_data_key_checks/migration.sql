-- A provider that decrypts a data key to another one is noticed before anything is encrypted under it.
-- Null for keys from before.
-- tests: control-plane/src/key-management/data-keys.pg.test.ts
ALTER TABLE data_keys ADD COLUMN key_check bytea;
