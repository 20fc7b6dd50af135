/**
 * Ensures that the server does not outlive its service for long: a shell reads a pipe of the
 * service, which closes when the service ends in any way. The next start then has a while to take
 * the server over; after that the keeper shuts it down. It is a separate process, since a killed
 * service does nothing more, and a shell, since that takes one megabyte where Node takes forty.
 *
 * The next start and the keeper cannot miss each other: the keeper writes its mark and then checks
 * the folder lock; the start takes the lock and then checks for the mark. Proven by
 * postgres-keeper.test.ts.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isProcessAlive } from './folder-lock.ts';

/** How long the server waits for the next start, in seconds. */
const OUTLIVES_SECONDS = 20;
const AGAIN_MS = 5_000;
/** A little more than the keeper needs to end a server. */
const ENDING_MS = 45_000;

const MARK = 'postgres.ending';

// $1 lock file, $2 what it holds while the service lives, $3 data folder of the server, $4 seconds
// to wait, $5 mark. Any text on the pipe means that the service stopped the server itself.
const SCRIPT = `
lock=$1 mine=$2 cluster=$3 wait=$4 mark=$5 passed=0
is_held() { [ "$(cat "$lock" 2>/dev/null)" = "$mine" ]; }
is_running() {
  pid=$(head -n 1 "$cluster/postmaster.pid" 2>/dev/null)
  [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null || return 1
  if [ -e /proc/self/cwd ]; then [ "$(readlink "/proc/$pid/cwd")" = "$cluster" ]
  else case "$(ps -p "$pid" -o comm= 2>/dev/null)" in *postgres*) ;; *) return 1 ;; esac; fi
}
read -r word && exit 0
while [ "$passed" -lt "$wait" ]; do
  sleep 1
  passed=$((passed + 1))
  is_held || exit 0
  [ "$passed" -lt 3 ] || is_running || exit 0
done
echo $$ > "$mark"
if is_held && is_running; then
  echo "the service that used this server has ended, and no other took it over: shutting down" >&2
  kill -INT "$pid"
  passed=0
  while is_running && [ "$passed" -lt 30 ]; do
    [ "$passed" -eq 15 ] && kill -QUIT "$pid"
    passed=$((passed + 1))
    sleep 1
  done
fi
rm -f "$mark"
`;

export interface PostgresKeeper {
  /** The id of its process; undefined where there is none. */
  readonly pid: number | undefined;
  /** Ends the keeper; call it after the server was ended. */
  stop(): void;
}

export interface KeeperOptions {
  dataDir: string;
  /** The lock that this process holds. */
  lockFile: string;
  clusterFolder: string;
  logFile: string;
  outlivesSeconds?: number | undefined;
  log: { warn(message: string): void };
}

/**
 * Starts the keeper, and restarts it when it ends. Windows has no shell: the server keeps running
 * there.
 */
export function startKeeper(options: KeeperOptions): PostgresKeeper {
  if (process.platform === 'win32') return { pid: undefined, stop: () => {} };
  const { dataDir, lockFile, log } = options;
  const args = [
    lockFile,
    readFileSync(lockFile, 'utf8'),
    // Links resolved: the script compares it with /proc/<pid>/cwd.
    realpathSync(options.clusterFolder),
    String(options.outlivesSeconds ?? OUTLIVES_SECONDS),
    join(dataDir, MARK),
  ];
  let child: ChildProcess | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  function start(): void {
    const output = openSync(options.logFile, 'a', 0o600);
    try {
      child = spawn('/bin/sh', ['-c', SCRIPT, 'postgres-keeper', ...args], {
        cwd: '/',
        env: { PATH: process.env.PATH, LC_ALL: 'C' },
        // Its own session: Ctrl-C is for the service.
        detached: true,
        stdio: ['pipe', 'ignore', output],
      });
    } finally {
      closeSync(output);
    }
    const pipe = child.stdin as Socket | null;
    // A missing keeper is reported by its exit event.
    pipe?.on('error', () => {});
    pipe?.unref();
    child.unref();
    child.once('error', ended);
    child.once('exit', ended);
  }

  function ended(why: Error | number | null): void {
    if (stopped || timer) return;
    const reason = why instanceof Error ? why.message : `ended (${why ?? 'by a signal'})`;
    log.warn(`the keeper of the embedded PostgreSQL is started again: ${reason}`);
    timer = setTimeout(() => {
      timer = undefined;
      start();
    }, AGAIN_MS).unref();
  }

  start();
  return {
    get pid() {
      return child?.pid;
    },
    stop: () => {
      stopped = true;
      clearTimeout(timer);
      child?.stdin?.end('stopped\n');
    },
  };
}

/** Waits for a keeper that has begun to end the server. The caller holds the folder's lock. */
export async function waitForKeeper(dataDir: string): Promise<void> {
  const mark = join(dataDir, MARK);
  const deadline = Date.now() + ENDING_MS;
  for (;;) {
    const keeper = readKeeper(mark);
    if (keeper === undefined) return;
    if (Number.isNaN(keeper) || !isProcessAlive(keeper) || Date.now() > deadline) break;
    await sleep(50);
  }
  // The keeper was killed and left its mark, or took too long.
  rmSync(mark, { force: true });
}

function readKeeper(mark: string): number | undefined {
  try {
    return Number.parseInt(readFileSync(mark, 'utf8'), 10);
  } catch {
    return undefined;
  }
}
