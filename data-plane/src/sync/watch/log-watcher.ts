/**
 * Watches a tenant's log: asks now and then for its newest checkpoint and the proof that it
 * continues the largest one kept here, on another machine. A contradiction is kept, reported and
 * raised as an alert; it stops nothing. A control plane that does not answer contradicts nothing.
 * Proven by log-watcher.test.ts.
 */
import type { ControlPlaneLink, LogWatchReport } from '@governance/shared/channel/channels';
import { parseCheckpoint } from '@governance/shared/evidence/checkpoint';
import { judgeLogView, type LogView } from '@governance/shared/evidence/log-watch';
import {
  aboutFailure,
  type SyncFailure,
  type SyncLog,
  toSyncFailure,
} from '../link/sync-failure.ts';
import type { Contradiction, LogWatchStore } from './log-watch-store.ts';

/**
 * The interval between two checks; each a quarter longer or shorter, so that many data planes do
 * not ask at once.
 */
const WATCH_EVERY_MS = 5 * 60_000;
/** The delay after a failed check, and after the start. */
const RETRY_MS = 60_000;
const FIRST_MS = 10_000;
const LOOK_MS = 30_000;

/** A note without witnesses' lines is shorter; a longer one would not fit a heartbeat. */
const TOLD_LENGTH = 500;

export interface LogWatchStatus {
  /** The largest checkpoint of the log's present line. */
  checkpoint: { epoch: number; size: number; root: string; seen_at: string } | null;
  /** When the control plane last showed that its log continues. */
  last_shown_at: string | null;
  shown_age_seconds: number | null;
  checkpoints: number;
  contradictions: number;
  last_contradiction: { reason: string; at: string } | null;
  failure: SyncFailure | null;
}

export type LogWatcher = ReturnType<typeof startLogWatcher>;

export interface LogWatcherOptions {
  tenantId: string;
  deploymentId: string;
  link: Pick<ControlPlaneLink, 'readLog'>;
  store: LogWatchStore;
  /** Called for each new contradiction. */
  onContradicted: (found: Contradiction) => void;
  log: SyncLog;
  now: () => number;
  /** A number from 0 to 1. */
  random?: () => number;
  everyMs?: number;
  firstMs?: number;
}

export function startLogWatcher(options: LogWatcherOptions) {
  const { tenantId, deploymentId, store, log, now } = options;
  const random = options.random ?? Math.random;
  const everyMs = options.everyMs ?? WATCH_EVERY_MS;
  const ending = new AbortController();
  const time = () => new Date(now()).toISOString();
  let failure: SyncFailure | null = null;
  let shownAt: string | null = null;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> = Promise.resolve();
  /** Cached from the store: read once for each check, since it is asked for all the time. */
  let kept = tryReadKept();

  function tryReadKept(): Kept | null {
    try {
      return readKept(store, tenantId);
    } catch (error) {
      failure = toSyncFailure('log', error, now());
      return null;
    }
  }

  async function look(): Promise<void> {
    const known = store.findCurrent(tenantId);
    const signal = AbortSignal.any([ending.signal, AbortSignal.timeout(LOOK_MS)]);
    const { epoch, size } = known ?? { epoch: 1, size: 0 };
    const view = await options.link.readLog({ epoch, size, signal });
    const trust = store.findTrust(tenantId) ?? {
      ...{ tenantId, keys: view.keys, rotations: [], revoked: [], logEpochs: [] },
    };
    const found = judgeLogView(known, trust, view);
    const answered = { ...view, log_epochs: 'logEpochs' in found ? found.logEpochs : [] };
    switch (found.kind) {
      case 'empty':
        break;
      case 'contradicts':
        contradicted(answered, found.reason, known?.note ?? null, found.seen);
        return;
      case 'continues':
        store.trust(tenantId, deploymentId, answered);
        store.keep(tenantId, found.seen, time());
        break;
      case 'same':
        store.trust(tenantId, deploymentId, { ...answered, log_epochs: [] });
    }
    shownAt = time();
  }

  function contradicted(
    view: LogView,
    reason: Contradiction['reason'],
    known: string | null,
    seen: Parameters<LogWatchStore['contradict']>[2],
  ): void {
    const found: Contradiction = {
      ...{ reason, seenAt: time(), known, told: view.note },
      ...{ path: view.consistency, logEpochs: view.log_epochs },
    };
    // Beginnings of epochs that a trusted key signed are trusted from now on.
    const isFirst = store.findTrust(tenantId) === undefined;
    // A revocation counts only from somebody with another trusted key.
    store.trust(
      tenantId,
      deploymentId,
      seen ? view : { ...view, keys: isFirst ? view.keys : [], rotations: [], log_epochs: [] },
    );
    const isNew = store.contradict(tenantId, found, seen);
    kept = tryReadKept();
    if (!isNew) return;
    log.error(
      { tenantId, reason, known, told: view.note },
      'the log contradicts what was seen of it',
    );
    options.onContradicted(found);
  }

  async function turn(): Promise<void> {
    let pauseMs = everyMs;
    try {
      await look();
      failure = null;
      kept = tryReadKept();
    } catch (error) {
      if (ending.signal.aborted) return;
      const before = failure?.code;
      failure = toSyncFailure('log', error, now());
      if (failure.code !== before) {
        log.warn({ tenantId, ...aboutFailure(failure) }, 'the log was not shown');
      }
      pauseMs = Math.min(RETRY_MS, everyMs);
    }
    schedule(pauseMs * (0.75 + random() / 2));
  }

  function schedule(ms: number): void {
    if (ending.signal.aborted) return;
    timer = setTimeout(() => {
      looking = turn();
    }, ms).unref();
  }

  schedule((options.firstMs ?? FIRST_MS) * (0.5 + random()));

  return {
    /** For the heartbeat; undefined before the first checkpoint. */
    report: (): LogWatchReport | undefined => kept?.report,
    status: (): LogWatchStatus => ({
      ...(kept?.status ?? NOTHING_KEPT),
      last_shown_at: shownAt,
      shown_age_seconds:
        shownAt === null ? null : Math.max(0, Math.round((now() - Date.parse(shownAt)) / 1_000)),
      failure,
    }),
    stop: async (): Promise<void> => {
      ending.abort();
      clearTimeout(timer);
      await looking;
    },
  };
}

interface Kept {
  report: LogWatchReport | undefined;
  status: Omit<LogWatchStatus, 'last_shown_at' | 'shown_age_seconds' | 'failure'>;
}

const NOTHING_KEPT: Kept['status'] = {
  checkpoint: null,
  checkpoints: 0,
  contradictions: 0,
  last_contradiction: null,
};

function readKept(store: LogWatchStore, tenantId: string): Kept {
  const current = store.findCurrent(tenantId);
  const highest = store.findHighest(tenantId);
  const last = store.listContradictions(tenantId).at(-1);
  const contradictions = store.countContradictions(tenantId);
  const kept = [current?.note, highest?.note].flatMap((note) => shown(note ?? null) ?? []);
  const checkpoints = [...new Set(kept)];
  return {
    report:
      checkpoints.length === 0 && !last
        ? undefined
        : { checkpoints, contradictions, ...(last && { contradicted: toReported(last) }) },
    status: {
      checkpoint: current && {
        epoch: current.epoch,
        size: current.size,
        root: current.root,
        seen_at: current.seenAt,
      },
      checkpoints: store.countCheckpoints(tenantId),
      contradictions,
      last_contradiction: last ? { reason: last.reason, at: last.seenAt } : null,
    },
  };
}

function toReported({ reason, seenAt: at, known, told }: Contradiction) {
  return { reason, at, known: shown(known), told: shown(told) };
}

/** Whether a received note has the form of one, and fits a heartbeat. */
function shown(note: string | null): string | null {
  if (note === null || note.length > TOLD_LENGTH) return null;
  try {
    parseCheckpoint(note);
    return note;
  } catch {
    return null;
  }
}
