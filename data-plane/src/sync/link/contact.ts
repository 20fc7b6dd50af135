/**
 * The state of a tenant's control plane as seen from this data plane. It distinguishes three
 * things: nothing answers, something answers and the answer is refused, and it revoked this plane.
 */
import type { ControlPlaneLink } from '@governance/shared/channel/channels';
import { AppError } from '@governance/shared/errors';
import { AWAY_BACKOFF, type BackoffLimits, BUSY_BACKOFF } from './backoff.ts';
import { LinkError } from './link-error.ts';
import { failureCode, isRefusedCode, type SyncFailure, toSyncFailure } from './sync-failure.ts';

export const CONTACT_STATES = ['connected', 'unreachable', 'rejected', 'revoked'] as const;
type ContactState = (typeof CONTACT_STATES)[number];

export interface ContactStatus {
  state: ContactState;
  since: string;
  failure: SyncFailure | null;
}

/**
 * Loops that pause after a failure are woken at most this often: with one part of a control plane
 * down, its other parts keep answering.
 */
const WAKE_EVERY_MS = 5_000;

/**
 * @param options.onBack called when the control plane answers after a silence, at once the first time
 *   and then at most every 5 s; with the time since when it did not, or null where no call had failed
 * @param options.refusal what was refused of the answers at present, null for nothing
 * @param options.isRevoked whether the control plane revoked this data plane
 */
export function createContact(options: {
  link: ControlPlaneLink;
  refusal: () => SyncFailure | null;
  isRevoked: () => boolean;
  onBack: (awaySince: string | null) => void;
  now: () => number;
}) {
  const { link } = options;
  const time = () => new Date(options.now()).toISOString();
  /** The result of the last call that ended; undefined before the first. */
  const notYet: SyncFailure = {
    stage: 'connect',
    code: 'not_yet',
    message: 'the control plane did not answer yet',
    at: time(),
  };
  let silence: SyncFailure | null = notYet;
  let last: ContactStatus = { state: 'unreachable', since: time(), failure: silence };

  function note(): ContactStatus {
    const { state, failure } = judge();
    const since = state === last.state ? last.since : time();
    last = { state, since, failure };
    return last;
  }

  function judge(): { state: ContactState; failure: SyncFailure | null } {
    if (options.isRevoked()) return { state: 'revoked', failure: options.refusal() ?? silence };
    if (silence) return { state: 'unreachable', failure: silence };
    const refusal = options.refusal();
    return { state: refusal ? 'rejected' : 'connected', failure: refusal };
  }

  let announcedAt = Number.NEGATIVE_INFINITY;
  let announcing: NodeJS.Timeout | null = null;
  /** The beginning of the silence that is to be announced. */
  let awaySince: string | null = null;

  function answered(): void {
    const ended = silence;
    if (ended && ended !== notYet) awaySince ??= last.since;
    silence = null;
    note();
    if (ended) announceBack();
  }

  function announceBack(): void {
    if (announcing) return;
    const announce = () => {
      announcing = null;
      announcedAt = performance.now();
      const since = awaySince;
      awaySince = null;
      options.onBack(since);
    };
    const wait = announcedAt + WAKE_EVERY_MS - performance.now();
    if (wait > 0) announcing = setTimeout(announce, wait).unref();
    else announce();
  }

  function failed(error: unknown, stage: string, signal?: AbortSignal): void {
    // A wait that this side ended says nothing about the other.
    if (signal?.aborted) return;
    if (isAnswer(error)) {
      answered();
      return;
    }
    silence = toSyncFailure(stage, error, options.now());
    note();
  }

  async function watch<T>(stage: string, call: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    try {
      const result = await call();
      answered();
      return result;
    } catch (error) {
      failed(error, stage, signal);
      throw error;
    }
  }

  return {
    /** The given link, with every answer and failure of it noted here. */
    link: {
      pullBundle: (request) => watch('pull', () => link.pullBundle(request), request.signal),
      readFeed: (request) => watch('read', () => link.readFeed(request), request.signal),
      async *readSnapshot(request) {
        try {
          const end = yield* link.readSnapshot(request);
          answered();
          return end;
        } catch (error) {
          failed(error, 'snapshot', request.signal);
          throw error;
        }
      },
      heartbeat: (body) => watch('heartbeat', () => link.heartbeat(body)),
      shipBatch: (batch) => watch('ship', () => link.shipBatch(batch)),
      readLog: (request) => watch('log', () => link.readLog(request), request.signal),
      shipPayloads: (upload) => watch('payloads', () => link.shipPayloads(upload)),
    } satisfies ControlPlaneLink,
    status: (): ContactStatus => ({ ...note() }),
  };
}

/**
 * How long a probe waits after an outage.
 *
 * @returns null where something answered, and what it said is the matter
 */
export function outageBackoff(error: unknown): BackoffLimits | null {
  if (isAnswer(error)) return null;
  return error instanceof LinkError && error.isFromControlPlane ? BUSY_BACKOFF : AWAY_BACKOFF;
}

/** Whether the control plane itself said this; a time-out or a proxy's page does not count. */
function isAnswer(error: unknown): boolean {
  if (error instanceof AppError) return error.code !== 'UNAVAILABLE';
  return isRefusedCode(failureCode(error));
}
