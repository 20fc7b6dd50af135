import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tryOwnIdentity } from '../identity/identity-lock.ts';
import { openDataFolder } from './data-folder.ts';

let dataDir: string;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'data-folder-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

const open = () =>
  openDataFolder(
    {
      dataDir,
      version: '1.0.0',
      log: quiet,
      onFatal: (error) => {
        throw error;
      },
      readUsedShare: async () => 0,
    },
    Date.now,
  );

/** In a file of SQLite that nobody has open: whoever has is met at once. */
function execute(file: string, statements: string): void {
  const db = new Database(join(dataDir, file), { timeout: 0 });
  try {
    db.exec(statements);
  } finally {
    db.close();
  }
}

const remove = (file: string) => () => rmSync(join(dataDir, file), { recursive: true });

describe('a data folder of which a part cannot be opened', () => {
  it.each([
    {
      part: 'payloads',
      spoil: () => {
        remove('payloads')();
        writeFileSync(join(dataDir, 'payloads'), '');
      },
      fault: 'EEXIST',
      mend: remove('payloads'),
    },
    {
      part: 'replica.db',
      spoil: () => execute('replica.db', 'ALTER TABLE agents RENAME TO others'),
      fault: 'no such table: agents',
      mend: () => execute('replica.db', 'ALTER TABLE others RENAME TO agents'),
    },
    {
      part: 'held-results.db',
      spoil: () => execute('held-results.db', 'ALTER TABLE held_results RENAME sealed TO other'),
      fault: 'no such column: sealed',
      mend: () => execute('held-results.db', 'ALTER TABLE held_results RENAME other TO sealed'),
    },
    {
      part: 'identity/denials',
      spoil: () => {
        remove('identity/denials')();
        writeFileSync(join(dataDir, 'identity/denials'), '');
      },
      fault: 'EEXIST',
      mend: remove('identity/denials'),
    },
    {
      part: 'clock',
      spoil: () => {
        remove('clock')();
        mkdirSync(join(dataDir, 'clock'));
      },
      fault: 'EISDIR',
      mend: remove('clock'),
    },
  ])('names the fault of $part, and keeps nothing open', async ({ spoil, fault, mend }) => {
    await open().then((folder) => folder.close());
    spoil();
    await expect(open()).rejects.toThrow(fault);
    // Both locks are free: that of the keys, and that of the ledger.
    const identity = tryOwnIdentity(dataDir);
    expect(identity).not.toBeNull();
    identity?.release();
    mend();
    const folder = await open();
    await folder.close();
  });
});

it('logs that the disk of the ledger fills up, is full and has room again, each once', async () => {
  const lines: unknown[] = [];
  const say = (level: string) => (about: object, message: string) => {
    lines.push([level, about, message]);
  };
  const log = { info: say('info'), warn: say('warn'), error: say('error') };
  let share = 0.5;
  const folder = await openDataFolder(
    { dataDir, version: '1.0.0', log, onFatal: () => undefined, readUsedShare: async () => share },
    Date.now,
  );
  try {
    for (share of [0.5, 0.81, 0.85, 0.96, 0.5]) await folder.ledger.checkDisk();
    expect(lines).toEqual([
      ['warn', { used_percent: 81 }, 'the disk of the ledger fills up'],
      ['error', { used_percent: 96 }, 'the disk of the ledger is full: calls are refused'],
      ['info', { used_percent: 50 }, 'the disk of the ledger has room again'],
    ]);
  } finally {
    await folder.close();
  }
});
