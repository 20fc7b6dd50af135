import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { claimCluster, refuseCopiedFolder } from './cluster-place.ts';
import { storeCredentials } from './postgres-folder.ts';

let folder: string;
let cluster: string;
let original: string;
let other: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cluster-place-'));
  [cluster, original, other] = ['cluster', 'original', 'other'].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  mkdirSync(cluster);
  mkdirSync(original);
  storeCredentials(join(original, 'postgres.json'), {
    superuserPassword: 'super',
    password: 'secret',
    port: 5432,
    outside: cluster,
  });
  start(original);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function start(dataDir: string): void {
  refuseCopiedFolder(cluster, dataDir);
  claimCluster(cluster, dataDir);
}

it('refuses a copied data folder, and says how it can replace the original', () => {
  cpSync(original, other, { recursive: true });
  expect(() => start(other)).toThrow(
    `the database in ${cluster} is that of the data folder ${original}, of which ${other} is a copy: set SERVICE_DATA_DIR to ${original}, or`,
  );
  start(original);
  renameSync(original, join(folder, 'away'));
  start(other);
  renameSync(join(folder, 'away'), original);
  expect(() => start(original)).toThrow(`is that of the data folder ${other}`);
});

it('takes a data folder that was moved, or has another path, for what it is', () => {
  symlinkSync(original, other);
  start(other);
  start(original);
  rmSync(other);
  renameSync(original, other);
  start(other);
});
