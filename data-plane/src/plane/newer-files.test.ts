/**
 * Files of the data folder that a newer version wrote are refused, and older ones are taken over;
 * a damaged one is refused by name.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StartError } from '@governance/shared/process/start-error';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openPinFile } from '../enforcement/pins/pin-file.ts';
import { openToolDefinitions } from '../enforcement/tools/tool-definitions.ts';
import { HELD_PLACES_FILE, openHeldPlaces } from '../holds/held-places.ts';
import { HELD_RESULTS_FILE, openHeldResults } from '../holds/held-results.ts';
import { exportKeptLog } from '../local-control/kept-log-export.ts';
import { LOG_WATCH_FILE, openLogWatchStore } from '../sync/watch/log-watch-store.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'newer-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

const sealing = { seal: async (text: string) => text, open: (text: string) => text };
const log = { error: () => undefined, warn: () => undefined };

function version(file: string, set?: number): unknown {
  const db = new Database(join(dataDir, file));
  if (set !== undefined) db.pragma(`user_version = ${set}`);
  const found = db.pragma('user_version', { simple: true });
  db.close();
  return found;
}

describe.each<[string, number, (path: string) => { close(): void }]>([
  [HELD_PLACES_FILE, 2, (path) => openHeldPlaces(path, { worker: 1, now: Date.now, log })],
  [HELD_RESULTS_FILE, 1, (path) => openHeldResults(path, sealing)],
  [LOG_WATCH_FILE, 1, openLogWatchStore],
  ['tool-pins.db', 1, openPinFile],
  ['tool-definitions.db', 1, (path) => openToolDefinitions(path, () => undefined, log)],
])('%s', (file, current, open) => {
  it('carries a version, which one of before gets when it is opened', () => {
    open(join(dataDir, file)).close();
    expect(version(file, 0)).toBe(0);
    open(join(dataDir, file)).close();
    expect(version(file)).toBe(current);
  });

  it('is refused by name when a newer version wrote it, and not touched', () => {
    open(join(dataDir, file)).close();
    version(file, current + 1);
    const reopen = () => open(join(dataDir, file));
    expect(reopen).toThrow(StartError);
    expect(reopen).toThrow(`${file} was written by a newer version (${current + 1})`);
    expect(version(file)).toBe(current + 1);
  });

  it.each([
    ['no database', () => Buffer.from('garbage, and enough of it')],
    ['cut in the middle', (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
  ])('is refused by name when it is %s, and not touched', (_what, damage) => {
    const path = join(dataDir, file);
    open(path).close();
    const bytes = damage(readFileSync(path));
    writeFileSync(path, bytes);
    expect(() => open(path)).toThrow(StartError);
    expect(() => open(path)).toThrow(`${path} is damaged (SqliteError: `);
    expect(readFileSync(path)).toEqual(bytes);
  });
});

it('what a newer version kept of the log is not exported', () => {
  openLogWatchStore(join(dataDir, LOG_WATCH_FILE)).close();
  version(LOG_WATCH_FILE, 2);
  expect(() => exportKeptLog(dataDir, undefined, new Date())).toThrow('newer version (2)');
});
