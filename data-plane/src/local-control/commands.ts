/**
 * The data plane's own command line. It works on the data folder, whether or not the service is
 * running and the control plane reachable.
 */
import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { syncFolder } from '@governance/shared/process/durable-file';
import { SERVICE_SETTINGS } from '@governance/shared/service-settings';
import { parseSettings } from '@governance/shared/settings';
import { GivenId } from '@governance/shared/text';
import Database from 'better-sqlite3';
import { hasRegistered } from '../identity/identity.ts';
import { IDENTITY_LOCK_FILE, tryOwnIdentity } from '../identity/identity-lock.ts';
import { SEALING_KEY_FILE, TOKEN_KEY_FILE } from '../identity/own-key-rotation.ts';
import { finishOwnRotation, type OwnRotation, rotateOwnKeys } from '../identity/rotate-own-keys.ts';
import { LEDGER_FILE } from '../ledger/ledger.ts';
import { isLedgerInUse } from '../ledger/ledger-lock.ts';
import { PAYLOADS_FOLDER } from '../payloads/payload-spool.ts';
import { sqliteCode } from '../storage/durable-database.ts';
import { findDrained, listWorkers, workerFolder } from '../workers/worker-folders.ts';
import { exportKeptLog } from './kept-log-export.ts';
import { changeLocalSwitch, readLocalSwitch, SWITCH_FILE } from './local-kill-switch.ts';

export const USAGE = `Commands of the data plane:
  kill-switch engage --reason <text> [--tenant <id>]   nobody gets through, at once
  kill-switch lift [--reason <text>] [--tenant <id>]   as before
  kill-switch status
  status                                               what the running data plane says of itself
  log-watch [--tenant <id>]                            what is kept of the log of evidence, as JSON
  rotate-keys [--revoke]                               new keys of tokens and of sealing (stop it first)
  register-anew [--worker <n>]                         new keys after a fork or a revocation (stop it first)

They act on SERVICE_DATA_DIR, for all its workers; "status" asks SERVICE_HOST and SERVICE_PORT.`;

const OPTIONS = {
  tenant: { type: 'string' },
  reason: { type: 'string' },
  worker: { type: 'string' },
  revoke: { type: 'boolean' },
} as const;

/** The options of each command. With one it ignored, it would do more than was asked. */
const COMMANDS = {
  'kill-switch engage': ['reason', 'tenant'],
  'kill-switch lift': ['reason', 'tenant'],
  'kill-switch status': [],
  status: [],
  'log-watch': ['tenant'],
  'rotate-keys': ['revoke'],
  'register-anew': ['worker'],
} as const satisfies Record<string, readonly (keyof typeof OPTIONS)[]>;

export interface CommandOutput {
  log(text: string): void;
  error(text: string): void;
}

/**
 * Runs a command.
 *
 * @param args after the program's name
 * @returns the process's exit code: 0, 1 when it failed, 2 when it was not understood
 */
export async function runCommand(
  args: string[],
  env: NodeJS.ProcessEnv,
  out: CommandOutput = console,
): Promise<number> {
  const { dataDir, host, port } = parseSettings(
    {
      dataDir: SERVICE_SETTINGS.dataDir,
      host: SERVICE_SETTINGS.host,
      port: SERVICE_SETTINGS.port,
    },
    env,
  );
  const asked = parseCommand(args);
  if ('fault' in asked) {
    out.error(`${asked.fault}\n\n${USAGE}`);
    return 2;
  }
  const { command, values } = asked;
  try {
    switch (command) {
      case 'kill-switch engage':
      case 'kill-switch lift':
        return changeSwitch(dataDir, { ...values, engaged: command === 'kill-switch engage' }, out);
      case 'kill-switch status':
        return showSwitch(dataDir, out);
      case 'status':
        return await showStatus(
          `http://${host === '0.0.0.0' ? '127.0.0.1' : host}:${port}`,
          dataDir,
          out,
        );
      case 'log-watch':
        return showKeptLog(dataDir, values.tenant, out);
      case 'rotate-keys':
        return rotateKeys(dataDir, { isRevoked: values.revoke ?? false }, out);
      case 'register-anew':
        return registerAnew(dataDir, values.worker, out);
    }
  } catch (error) {
    out.error(error instanceof Error ? error.message : String(error));
    return 1;
  }
}

/** @returns the command with its options, each given once, or why it is not understood */
function parseCommand(args: string[]) {
  try {
    const { positionals, values, tokens } = parseArgs({
      args,
      allowPositionals: true,
      options: OPTIONS,
      tokens: true,
    });
    const command = positionals.join(' ');
    if (!isCommand(command)) return { fault: `there is no command "${command}"` };
    const given = tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : []));
    const allowed: readonly string[] = COMMANDS[command];
    const foreign = given.find((name) => !allowed.includes(name));
    if (foreign !== undefined) return { fault: `${command} has no option --${foreign}` };
    const repeated = given.find((name, at) => given.indexOf(name) !== at);
    if (repeated !== undefined) return { fault: `--${repeated} is given more than once` };
    return { command, values };
  } catch (error) {
    const fault = error instanceof Error ? error.message : String(error);
    // Node goes on about how an argument may begin with a hyphen, which none does here.
    const [what] = fault.split('. To specify a positional');
    return { fault: `${what}; settings are environment variables (docs/configuration.md)` };
  }
}

function isCommand(text: string): text is keyof typeof COMMANDS {
  return Object.hasOwn(COMMANDS, text);
}

function changeSwitch(
  dataDir: string,
  given: { engaged: boolean; tenant?: string | undefined; reason?: string | undefined },
  out: CommandOutput,
): number {
  const { engaged } = given;
  const tenant = GivenId.nullable().safeParse(given.tenant ?? null);
  if (!tenant.success || (engaged && !given.reason)) {
    out.error(tenant.success ? 'say why: --reason <text>' : '--tenant takes the id of a tenant');
    return 2;
  }
  // In a mistyped folder nobody would be stopped. One with a switch may have its keys moved aside.
  if (engaged || !existsSync(join(dataDir, SWITCH_FILE))) requireDataPlane(dataDir);
  const reason = (given.reason ?? '').slice(0, 500).toWellFormed();
  const operator = userInfo().username;
  changeLocalSwitch(dataDir, { engaged, tenantId: tenant.data, reason, operator });
  const whom = tenant.data === null ? 'all tenants' : `tenant ${tenant.data}`;
  const done = `the local kill switch is ${engaged ? 'engaged' : 'lifted'} for ${whom}`;
  // Another data plane's folder may lie in the default place, and then the wrong one is stopped.
  out.log(`${done} of the data plane in ${dataDir}`);
  if (!engaged || tenant.data === null || hasRegistered(dataDir, tenant.data)) return 0;
  throw new Error(
    `nobody is stopped by that now: the data plane of ${dataDir} does not serve ${whom}`,
  );
}

function requireDataPlane(dataDir: string): void {
  if (existsSync(join(dataDir, 'identity', TOKEN_KEY_FILE))) return;
  throw new Error(`${dataDir} holds no data plane: set SERVICE_DATA_DIR`);
}

function showSwitch(dataDir: string, out: CommandOutput): number {
  const state = readLocalSwitch(dataDir);
  if (state.unreadable !== null) {
    out.log(`engaged for all tenants: its file cannot be read (${state.unreadable})`);
    return 0;
  }
  const { all, tenants } = state.file;
  if (all?.engaged) {
    out.log(`engaged for all tenants since ${all.changed_at} by ${all.operator}: ${all.reason}`);
    return 0;
  }
  const engaged = Object.entries(tenants).filter(([, own]) => own.engaged);
  for (const [id, { changed_at: at, operator, reason }] of engaged) {
    out.log(`engaged for tenant ${id} since ${at} by ${operator}: ${reason}`);
  }
  if (engaged.length === 0) out.log('not engaged');
  return 0;
}

function showKeptLog(dataDir: string, tenant: string | undefined, out: CommandOutput): number {
  const given = GivenId.optional().safeParse(tenant);
  if (!given.success) {
    out.error('--tenant takes the id of a tenant');
    return 2;
  }
  out.log(JSON.stringify(exportKeptLog(dataDir, given.data, new Date()), null, 2));
  return 0;
}

async function showStatus(url: string, dataDir: string, out: CommandOutput): Promise<number> {
  const answer = await fetch(`${url}/health`, { signal: AbortSignal.timeout(5_000) }).catch(
    () => null,
  );
  if (answer === null) throw new Error(`nothing answers at ${url}`);
  const status = (await answer.json()) as { workers?: unknown[] };
  const serving = status.workers?.length ?? 1;
  // Folders of workers that no longer serve.
  const others = listWorkers(dataDir)
    .filter((worker) => worker > serving)
    .map((worker) => ({ worker, drained_at: findDrained(workerFolder(dataDir, worker)) }));
  out.log(
    JSON.stringify({ ...status, ...(others.length > 0 && { other_folders: others }) }, null, 2),
  );
  return answer.ok ? 0 : 1;
}

/**
 * Rotates the keys of all workers. The key that signs batches stays: it is the data plane's
 * identity.
 */
function rotateKeys(
  dataDir: string,
  { isRevoked }: { isRevoked: boolean },
  out: CommandOutput,
): number {
  requireDataPlane(dataDir);
  const workers = listWorkers(dataDir).filter((one) =>
    existsSync(join(workerFolder(dataDir, one), 'identity', SEALING_KEY_FILE)),
  );
  const folders = workers.map((one) => workerFolder(dataDir, one));
  return whileUnused(dataDir, folders, () => {
    const begun = finishOwnRotation(dataDir);
    if (begun) out.log(`finished what was interrupted at ${begun.beganAt}: ${toText(begun)}`);
    // The interrupted run did what is asked now.
    if (begun?.isFollowed && (begun.isRevoked || !isRevoked)) return 0;
    const names = folders.map((folder) => relative(dataDir, folder));
    out.log(toText(rotateOwnKeys(dataDir, names, { isRevoked, now: new Date() })));
    return 0;
  });
}

function toText({ newKid, oldKid, isRevoked, isFollowed }: OwnRotation): string {
  if (!isFollowed) {
    return `the key of agents' tokens is ${newKid}, not ${oldKid}, which was to be exchanged: it stays, and nothing was revoked; credentials are sealed to a new key once the data plane has registered`;
  }
  const before = isRevoked
    ? 'what it signed is refused'
    : 'what it signed stays good until it ends';
  return `the key of agents' tokens is ${newKid}, after ${oldKid}: ${before}; credentials are sealed to a new key once the data plane has registered`;
}

/** All folders, or that of one worker. Nothing is changed if any of them is in use. */
function registerAnew(dataDir: string, worker: string | undefined, out: CommandOutput): number {
  const workers = listWorkers(dataDir).filter((one) => (worker ?? `${one}`) === `${one}`);
  const folders = workers
    .map((one) => workerFolder(dataDir, one))
    .filter((folder) => findOwn(folder).length > 0);
  if (folders.length === 0) {
    const whose = worker === undefined ? 'data plane' : `worker ${worker}`;
    throw new Error(`${dataDir} holds no ${whose}: set SERVICE_DATA_DIR`);
  }
  return whileUnused(dataDir, folders, () => {
    // A rotation would be moved aside with the first worker's keys, and the others never finish it.
    const isPart = listWorkers(dataDir).some(
      (one) => !folders.includes(workerFolder(dataDir, one)),
    );
    const begun = isPart ? finishOwnRotation(dataDir) : null;
    if (begun) out.log(`finished what was interrupted at ${begun.beganAt}: ${toText(begun)}`);
    for (const folder of folders) moveAside(folder, out);
    return 0;
  });
}

function findOwn(folder: string): string[] {
  return readdirSync(folder).filter(
    (name) =>
      name === 'identity' ||
      name === LEDGER_FILE ||
      // The lock stays: it is held, and the next process has to meet it.
      (name.startsWith(`${LEDGER_FILE}-`) && name !== `${LEDGER_FILE}-lock`),
  );
}

/**
 * Keys and ledger are moved aside whole: the records are evidence, and stay unchanged. With them go
 * their payloads: the control plane refuses those that another deployment sends, with an alert.
 */
function moveAside(dataDir: string, out: CommandOutput): void {
  const moved = findOwn(dataDir);
  if (existsSync(join(dataDir, PAYLOADS_FOLDER))) moved.push(PAYLOADS_FOLDER);
  const evidence = join(dataDir, 'evidence', new Date().toISOString().replaceAll(':', '-'));
  mkdirSync(evidence, { recursive: true, mode: 0o700 });
  for (const name of moved) {
    renameSync(join(dataDir, name), join(evidence, name));
  }
  syncFolder(evidence);
  syncFolder(dataDir);
  out.log(
    `the old keys and the old ledger are kept in ${evidence}; the next start makes new keys and registers with SERVICE_CP_TOKEN`,
  );
}

const RUNNING = 'the data plane is running, or another command is at work: stop it first';

/** No data plane starts meanwhile. */
function whileUnused<T>(dataDir: string, folders: readonly string[], work: () => T): T {
  const lock = tryOwnIdentity(dataDir);
  if (lock === null) throw new Error(RUNNING);
  try {
    // A service of an older version does not share the lock.
    for (const folder of folders) {
      // The lock of the data folder's own ledger is held here.
      const isOwnLock = relative(dataDir, folder) === '';
      requireUnused(join(folder, LEDGER_FILE), isOwnLock);
    }
    const done = work();
    if (lock.isInPlace()) return done;
    throw new Error(
      `${join(dataDir, IDENTITY_LOCK_FILE)} was removed meanwhile; what was asked is done, and a data plane that started meanwhile has to be started again`,
    );
  } finally {
    lock.release();
  }
}

function requireUnused(file: string, isOwnLock: boolean): void {
  if (!existsSync(file)) return;
  if (!isOwnLock && isLedgerInUse(file)) throw new Error(RUNNING);
  // A service of an older version locks the file itself. Opened read-only: a damaged file and its
  // log are evidence, and stay as they are.
  const database = new Database(file, { readonly: true, timeout: 200 });
  try {
    database.prepare('SELECT count(*) FROM sqlite_schema').get();
  } catch (error) {
    if (sqliteCode(error) !== 'SQLITE_BUSY') return;
    throw new Error(RUNNING, { cause: error });
  } finally {
    database.close();
  }
}
