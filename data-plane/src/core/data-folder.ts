/** The files of a data plane: opened together, by one process at a time, and closed in order. */
import type { KeyObject } from 'node:crypto';
import { join } from 'node:path';
import { createRaiseAlert } from '../alerts/raise-alert.ts';
import { HELD_RESULTS_FILE, openHeldResults } from '../holds/held-results.ts';
import { loadIdentity } from '../identity/identity.ts';
import { enterIdentity } from '../identity/rotate-own-keys.ts';
import { loadStanding } from '../identity/standing.ts';
import { createLedger, type LedgerOptions } from '../ledger/ledger.ts';
import { openPayloadSpool, PAYLOADS_FOLDER } from '../payloads/payload-spool.ts';
import { createReplica } from '../replica/replica.ts';
import { type OpenedParts, openParts } from '../storage/opened-parts.ts';
import { createPendingWrites } from '../storage/pending-writes.ts';
import { createPlaneClock } from '../sync/feed/plane-clock.ts';
import { failureMessage, type SyncLog } from '../sync/link/sync-failure.ts';
import { createSyncAlerts } from '../sync/sync-alerts.ts';
import { LOG_WATCH_FILE, openLogWatchStore } from '../sync/watch/log-watch-store.ts';

const DEFAULT_PAYLOAD_LIMIT_BYTES = 1024 ** 3;
const CLOCK_FILE = 'clock';

export interface DataFolderOptions
  extends Pick<LedgerOptions, 'dataDir' | 'onFatal' | 'observer' | 'readUsedShare'> {
  /** SERVICE_DATA_DIR, where it differs: it holds the key that signs agents' tokens. */
  sharedDir?: string;
  version: string;
  log: SyncLog;
  /** Limit of all ledger files together, in bytes; null for no limit but the disk. */
  ledgerLimitBytes?: number | null;
  /** Limit of the payloads that wait for the control plane, in bytes: 1 GiB by default. */
  payloadLimitBytes?: number;
  /** A monotonic clock in milliseconds. */
  elapsed?: () => number;
}

export type DataFolder = Awaited<ReturnType<typeof openDataFolder>>;

/**
 * Opens the files of a data folder, which must exist.
 *
 * @param now Unix milliseconds
 * @throws when a file is damaged or another process uses the folder
 */
export function openDataFolder(options: DataFolderOptions, now: () => number) {
  return openParts(
    (parts) => openFiles(options, now, parts),
    (error) => options.log.warn({ reason: failureMessage(error) }, 'a file was not closed'),
  );
}

async function openFiles(options: DataFolderOptions, now: () => number, parts: OpenedParts) {
  const { dataDir, log } = options;
  // From here on no command can exchange the keys.
  const identityLock = enterIdentity(options.sharedDir ?? dataDir, log);
  parts.add(identityLock.release);
  const identity = loadIdentity(dataDir, options.sharedDir, (err) =>
    log.error({ err }, 'an earlier sealing key cannot be read'),
  );
  const ledger = await openLedger(options, identity.signingKey, now);
  parts.add(ledger.stop);
  const writes = createPendingWrites(log);
  parts.add(writes.flush);
  const alerts = createSyncAlerts(createRaiseAlert({ ledger, writes, now }));
  const payloadSpool = await openPayloadSpool({
    dir: join(dataDir, PAYLOADS_FOLDER),
    limitBytes: options.payloadLimitBytes ?? DEFAULT_PAYLOAD_LIMIT_BYTES,
    onLost: alerts.payloadsLost,
    log,
    now,
  });
  const replica = createReplica({ dataDir, onRefused: alerts.factRefused });
  parts.add(replica.close);
  const heldResults = openHeldResults(join(dataDir, HELD_RESULTS_FILE), {
    seal: identity.sealOwn,
    open: identity.openSealedNow,
  });
  parts.add(heldResults.close);
  const watches = options.sharedDir === undefined || options.sharedDir === dataDir;
  const logWatch = watches ? tryOpenLogWatch(dataDir, log) : null;
  if (logWatch) parts.add(logWatch.close);
  const standing = loadStanding(dataDir, log, now);
  const clock = createPlaneClock({
    path: join(dataDir, CLOCK_FILE),
    now,
    elapsed: options.elapsed,
    onError: (error) =>
      log.warn({ reason: failureMessage(error) }, 'the latest time seen could not be stored'),
  });
  parts.add(clock.stop);
  return {
    identity,
    ledger,
    alerts,
    payloadSpool,
    replica,
    heldResults,
    /** Null where another process of the machine watches the log, or its file cannot be opened. */
    logWatch,
    standing,
    clock,
    /** Makes everything durable and closes the files. */
    close: (): Promise<void> => parts.close(),
  };
}

function openLedger(options: DataFolderOptions, signingKey: KeyObject, now: () => number) {
  const { log } = options;
  return createLedger({
    dataDir: options.dataDir,
    signingKey,
    writerVersion: options.version,
    onFatal: options.onFatal,
    now,
    observer: options.observer,
    readUsedShare: options.readUsedShare,
    limitBytes: options.ledgerLimitBytes ?? null,
    onDisk: (level, share) => {
      const about = { used_percent: share === null ? null : Math.round(share * 100) };
      if (level === 'full') log.error(about, 'the disk of the ledger is full: calls are refused');
      else if (level === 'warning') log.warn(about, 'the disk of the ledger fills up');
      else log.info(about, 'the disk of the ledger has room again');
    },
  });
}

/**
 * A file that cannot be opened is left untouched, for an operator to examine; the data plane runs
 * on without it.
 */
function tryOpenLogWatch(dataDir: string, log: SyncLog) {
  try {
    return openLogWatchStore(join(dataDir, LOG_WATCH_FILE));
  } catch (error) {
    const about = { file: LOG_WATCH_FILE, reason: failureMessage(error) };
    log.error(
      about,
      'the file for watching the log of evidence cannot be opened: the log is not watched',
    );
    return null;
  }
}
