/** The files of a data plane: opened together, by one process at a time, and closed in order. */
import { join } from 'node:path';
import { createRaiseAlert } from '../alerts/raise-alert.ts';
import { HELD_RESULTS_FILE, openHeldResults } from '../holds/held-results.ts';
import { loadIdentity } from '../identity/identity.ts';
import { enterIdentity } from '../identity/rotate-own-keys.ts';
import { loadStanding } from '../identity/standing.ts';
import { createLedger, type LedgerObserver } from '../ledger/ledger.ts';
import { openPayloadSpool } from '../payloads/payload-spool.ts';
import { createReplica } from '../replica/replica.ts';
import { createPendingWrites } from '../storage/pending-writes.ts';
import { createPlaneClock } from '../sync/feed/plane-clock.ts';
import { failureMessage, type SyncLog } from '../sync/link/sync-failure.ts';
import { createSyncAlerts } from '../sync/sync-alerts.ts';
import { LOG_WATCH_FILE, openLogWatchStore } from '../sync/watch/log-watch-store.ts';

const PAYLOADS_FOLDER = 'payloads';
const DEFAULT_PAYLOAD_LIMIT_BYTES = 1024 ** 3;
const CLOCK_FILE = 'clock';

export interface DataFolderOptions {
  dataDir: string;
  /** SERVICE_DATA_DIR, where it differs: it holds the key of agents' tokens. */
  sharedDir?: string;
  version: string;
  log: SyncLog;
  /** Called once when the ledger can no longer record: the process must exit. */
  onFatal: (error: Error) => void;
  /** Limit of all ledger files together, in bytes; null for no limit but the disk. */
  ledgerLimitBytes?: number | null;
  /** Limit of the payloads that wait for the control plane, in bytes: 1 GiB. */
  payloadLimitBytes?: number;
  observer?: LedgerObserver;
  /** A monotonic clock in milliseconds. */
  elapsed?: () => number;
  /** The used share of the ledger's disk, from 0 to 1. */
  readUsedShare?: () => Promise<number>;
}

export type DataFolder = Awaited<ReturnType<typeof openDataFolder>>;

/**
 * Opens the files of a data folder, which must exist.
 *
 * @param now Unix milliseconds
 * @throws when a file is damaged or another process uses the folder
 */
export async function openDataFolder(options: DataFolderOptions, now: () => number) {
  const { dataDir, log } = options;
  // No command exchanges the keys from here on.
  const identityLock = enterIdentity(options.sharedDir ?? dataDir, log);
  const { identity, ledger } = await openLedger(options, now).catch((error) => {
    identityLock.release();
    throw error;
  });
  const writes = createPendingWrites(log);
  const alerts = createSyncAlerts(createRaiseAlert({ ledger, writes, now }));
  const payloadSpool = await openPayloadSpool({
    dir: join(dataDir, PAYLOADS_FOLDER),
    limitBytes: options.payloadLimitBytes ?? DEFAULT_PAYLOAD_LIMIT_BYTES,
    onLost: alerts.payloadsLost,
    now,
  });
  const replica = createReplica({ dataDir, onRefused: alerts.factRefused });
  const heldResults = openHeldResults(join(dataDir, HELD_RESULTS_FILE), {
    seal: identity.sealOwn,
    open: identity.openSealedNow,
  });
  const watches = options.sharedDir === undefined || options.sharedDir === dataDir;
  const logWatch = watches ? tryOpenLogWatch(dataDir, log) : null;
  const standing = loadStanding(dataDir, log, now);
  const clock = createPlaneClock({
    path: join(dataDir, CLOCK_FILE),
    now,
    elapsed: options.elapsed,
    onError: (error) => log.warn({ reason: failureMessage(error) }, 'the time was not kept'),
  });
  return {
    identity,
    ledger,
    alerts,
    payloadSpool,
    replica,
    heldResults,
    /** With several processes, one of them watches the log. */
    logWatch,
    standing,
    clock,
    /** Makes everything durable and closes the files. */
    async close(): Promise<void> {
      clock.stop();
      await writes.flush();
      await ledger.stop();
      heldResults.close();
      logWatch?.close();
      replica.close();
      identityLock.release();
    },
  };
}

async function openLedger(options: DataFolderOptions, now: () => number) {
  const { dataDir } = options;
  const identity = loadIdentity(dataDir, options.sharedDir, (err) =>
    options.log.error({ err }, 'an earlier sealing key cannot be read'),
  );
  const ledger = await createLedger({
    dataDir,
    signingKey: identity.signingKey,
    writerVersion: options.version,
    onFatal: options.onFatal,
    now,
    observer: options.observer,
    readUsedShare: options.readUsedShare,
    limitBytes: options.ledgerLimitBytes ?? null,
  });
  return { identity, ledger };
}

/**
 * A file that cannot be opened is left untouched for an operator to examine; nothing else stops.
 */
function tryOpenLogWatch(dataDir: string, log: SyncLog) {
  try {
    return openLogWatchStore(join(dataDir, LOG_WATCH_FILE));
  } catch (error) {
    const about = { file: LOG_WATCH_FILE, reason: failureMessage(error) };
    log.error(about, 'what is kept of the log cannot be opened: the log is not watched');
    return null;
  }
}
