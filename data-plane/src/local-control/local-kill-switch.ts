/**
 * The kill switch of the machine's operator: a file in the data folder that the command line writes
 * and every process of the data plane watches, so that it works with the control plane gone and
 * survives restarts. An unreadable file counts as engaged for all. It can only be lifted here; the
 * control plane's switch is separate. Proven by local-kill-switch.test.ts.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { uuidv7 } from '@governance/shared/ids';
import type { DataPlaneAction } from '@governance/shared/ledger/data-plane-records';
import type { UnchainedRecord } from '@governance/shared/ledger/ledger-record';
import { writeFileDurably } from '@governance/shared/process/durable-file';
import { Id, Text, Timestamp } from '@governance/shared/text';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { Ledger, PlaneDenial } from '../contracts.ts';

export const SWITCH_FILE = 'local-kill-switch.json';
const RECORDED_FILE = 'local-kill-switch-recorded.json';

/** How soon a running process notices a change, at the latest. */
const POLL_MS = 100;

const Change = z.strictObject({
  change_id: z.string(),
  engaged: z.boolean(),
  reason: Text,
  operator: Text,
  changed_at: Timestamp,
});
type Change = z.infer<typeof Change>;

const SwitchFile = z.strictObject({
  v: z.literal(1),
  /** The newest change for all tenants; null before the first. */
  all: Change.nullable(),
  /** The newest change for one tenant, by its id. */
  tenants: z.record(Id, Change).transform(inLowerCase),
});
export type SwitchFile = z.infer<typeof SwitchFile>;

/**
 * Versions before this one wrote ids as they were given, and looked them up in lower case. Engaged
 * wins where two spellings name one tenant.
 */
function inLowerCase(tenants: Record<string, Change>): Record<string, Change> {
  const changes = Object.entries(tenants).sort(([, a], [, b]) => +a.engaged - +b.engaged);
  return Object.fromEntries(changes.map(([id, change]) => [id.toLowerCase(), change]));
}

/** What the file says; `unreadable` counts as engaged. */
export type SwitchState = { file: SwitchFile; unreadable: null } | { unreadable: string };

const NOTHING: SwitchFile = { v: 1, all: null, tenants: {} };

/** Reads the switch. Never throws: an unreadable file is reported as such. */
export function readLocalSwitch(dataDir: string): SwitchState {
  try {
    const text = readFileSync(join(dataDir, SWITCH_FILE), 'utf8');
    return { file: SwitchFile.parse(JSON.parse(text)), unreadable: null };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return { file: NOTHING, unreadable: null };
    }
    return { unreadable: error instanceof Error ? error.name : 'unreadable' };
  }
}

/**
 * Engages or lifts the switch durably.
 *
 * @param change.tenantId null for all tenants; lifting for all lifts those of single tenants too
 * @throws Error when one tenant's is to be lifted while the switch for all is engaged or the file
 *   cannot be read
 */
export function changeLocalSwitch(
  dataDir: string,
  change: { engaged: boolean; tenantId: string | null; reason: string; operator: string },
): SwitchFile {
  const state = readLocalSwitch(dataDir);
  const isForAll = state.unreadable !== null || state.file.all?.engaged === true;
  if (!change.engaged && change.tenantId !== null && isForAll) {
    throw new Error('the switch is engaged for all tenants: lift it without --tenant');
  }
  const entry: Change = {
    change_id: randomUUID(),
    engaged: change.engaged,
    reason: change.reason,
    operator: change.operator,
    changed_at: new Date().toISOString(),
  };
  const before = state.unreadable === null ? state.file : NOTHING;
  // An unreadable file was engaged for all, and stays so until it is lifted for all.
  const all = state.unreadable === null ? before.all : { ...entry, engaged: true };
  const lifted = Object.fromEntries(
    Object.entries(before.tenants).map(([id, old]) => [id, old.engaged ? entry : old]),
  );
  const file: SwitchFile =
    change.tenantId === null
      ? { v: 1, all: entry, tenants: change.engaged ? before.tenants : lifted }
      : { v: 1, all, tenants: { ...before.tenants, [change.tenantId]: entry } };
  try {
    writeFileDurably(join(dataDir, SWITCH_FILE), `${JSON.stringify(file, null, 2)}\n`);
  } catch (cause) {
    const message = `nothing was changed, since ${SWITCH_FILE} cannot be written (${String(cause)})`;
    throw new Error(`${message}: make room, or stop the data plane`, { cause });
  }
  return file;
}

/** Watches the switch and records each change in the streams of the tenants it concerns. */
export function watchLocalSwitch(options: {
  /** The folder that the command line writes to. */
  dataDir: string;
  /** Where this process stores what it has recorded; one writer for each folder. */
  ownDir: string;
  ledger: Pick<Ledger, 'append'>;
  /** Tenants whose streams are open. */
  listTenants(): string[];
  /** This data plane's id at a tenant: who acted, as the record says. */
  findDeploymentId(tenantId: string): string | undefined;
  log: Pick<Logger, 'warn' | 'error'>;
  now?: () => number;
  pollMs?: number;
}) {
  const { dataDir, log } = options;
  const now = options.now ?? Date.now;
  const path = join(dataDir, SWITCH_FILE);
  const recordedPath = join(options.ownDir, RECORDED_FILE);
  let recorded = readRecorded(recordedPath);
  let mark = fileMark(path);
  let state = readLocalSwitch(dataDir);
  let recording: Promise<void> | null = null;
  let isStopped = false;

  function poll(): void {
    const markNow = fileMark(path);
    if (markNow !== mark) {
      mark = markNow;
      // A file that disappeared was not lifted by the command line.
      state = markNow === 'none' ? { unreadable: 'missing' } : readLocalSwitch(dataDir);
      log.warn({ local_kill_switch: summary() }, 'the local kill switch changed');
    }
    if (recording === null && !isStopped) {
      const open = findUnrecorded();
      if (open.length > 0) recording = record(open).finally(() => (recording = null));
    }
  }

  function findUnrecorded(): { tenantId: string; change: Change; isForAll: boolean }[] {
    if (state.unreadable !== null) return [];
    const { all, tenants } = state.file;
    return options.listTenants().flatMap((tenantId) => {
      const own = tenants[tenantId];
      const changes = [
        ...(all ? [{ tenantId, change: all, isForAll: true }] : []),
        ...(own && own.change_id !== all?.change_id
          ? [{ tenantId, change: own, isForAll: false }]
          : []),
      ];
      return changes.filter(({ change }) => !recorded.has(recordedKey(tenantId, change)));
    });
  }

  async function record(open: ReturnType<typeof findUnrecorded>): Promise<void> {
    for (const { tenantId, change, isForAll } of open) {
      const deploymentId = options.findDeploymentId(tenantId);
      if (deploymentId === undefined) continue;
      try {
        const target = isForAll ? 'data_plane' : `tenant:${tenantId}`;
        await options.ledger.append(tenantId, switchRecord(deploymentId, change, target, now()));
        recorded = new Set([...recorded, recordedKey(tenantId, change)].slice(-MAX_RECORDED));
        writeFileDurably(recordedPath, JSON.stringify([...recorded]));
      } catch (error) {
        // The switch is in force all the same; the record is retried with the next poll of the
        // file.
        log.error(
          { err: error, tenantId },
          'a change of the local kill switch is not recorded yet',
        );
      }
    }
  }

  /** Why the switch denies all calls of a tenant; null where it does not. */
  function findDenial(tenantId: string): PlaneDenial | null {
    if (state.unreadable !== null) return denial('its file cannot be read');
    const { all, tenants } = state.file;
    const change = all?.engaged ? all : tenants[tenantId];
    return change?.engaged ? denial(change.reason) : null;
  }

  function summary(): { engaged: boolean; unreadable: boolean; tenants: string[] } {
    if (state.unreadable !== null) return { engaged: true, unreadable: true, tenants: [] };
    const { all, tenants } = state.file;
    const engaged = Object.entries(tenants).flatMap(([id, own]) => (own.engaged ? [id] : []));
    return { engaged: all?.engaged === true, unreadable: false, tenants: engaged };
  }

  poll();
  const timer = setInterval(poll, options.pollMs ?? POLL_MS);
  timer.unref();
  return {
    findDenial,
    status: summary,
    /** Stops watching, once a record in progress is written. */
    stop: async (): Promise<void> => {
      isStopped = true;
      clearInterval(timer);
      await recording;
    },
  };
}

function denial(why: string): PlaneDenial {
  const message = `the operator of this data plane engaged its kill switch (${why})`;
  return { reason: 'local_kill_switch', message };
}

const MAX_RECORDED = 10_000;

function recordedKey(tenantId: string, { change_id }: Change): string {
  return `${change_id} ${tenantId}`;
}

function readRecorded(path: string): Set<string> {
  try {
    return new Set(z.array(z.string()).parse(JSON.parse(readFileSync(path, 'utf8'))));
  } catch {
    // Recording it twice is better than not at all.
    return new Set();
  }
}

function fileMark(path: string): string {
  try {
    const { mtimeNs, ino, size } = statSync(path, { bigint: true });
    return `${mtimeNs} ${ino} ${size}`;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'none' : 'unreadable';
  }
}

function switchRecord(
  deploymentId: string,
  change: Change,
  target: string,
  now: number,
): Extract<UnchainedRecord, { type: 'admin_action' }> {
  const action = change.engaged ? 'local_kill_switch_engaged' : 'local_kill_switch_lifted';
  return {
    type: 'admin_action',
    id: uuidv7(now),
    timestamp: new Date(now).toISOString(),
    bundle_revision: null,
    actor: {
      id: deploymentId,
      username: change.operator,
      role: 'data_plane',
      break_glass: false,
    },
    action: action satisfies DataPlaneAction,
    target,
    details: {
      change_id: change.change_id,
      reason: change.reason,
      changed_at: change.changed_at,
    },
  };
}
