/**
 * Records calls that a rate limit refused. A decision for each would let an agent fill the ledger
 * by calling too often, which the limit prevents. So the calls are counted, and each agent's count
 * is recorded at most once a second: by several workers in turn, a second each. Proven by
 * refused-calls.test.ts.
 */
import { uuidv7 } from '@governance/shared/ids';
import type { RateTier } from '@governance/shared/settings/rate-limit-settings';
import { isoTime } from '@governance/shared/time/iso-time';
import type { Logger } from 'pino';
import type { RaiseAlert } from '../../alerts/raise-alert.ts';
import type { Ledger } from '../../contracts.ts';
import type { PendingWrites } from '../../storage/pending-writes.ts';
import type { AgentCall, AgentKey, ExceededLimit } from '../call/calls.ts';

/** The shortest time between two records of an agent. */
const RECORD_MS = 1_000;
/** When a record is tried again after the ledger refused it. */
const RETRY_MS = 30_000;
/** Timers may fire a little early, which would be within the second of another worker. */
const LATE_MS = 10;
/** Agents whose counts may wait at once; few do while the ledger accepts records. */
const MAX_WAITING = 20_000;

interface Refused {
  tenantId: string;
  agentId: string;
  revision: number | null;
  count: number;
  /** Unix milliseconds. */
  since: number;
  until: number;
  limit: ExceededLimit;
}

export type RefusedCalls = ReturnType<typeof createRefusedCalls>;

export function createRefusedCalls(
  deps: {
    ledger: Pick<Ledger, 'append'>;
    writes: Pick<PendingWrites, 'track'>;
    raiseAlert: RaiseAlert;
    /** Unix milliseconds. */
    now(): number;
    count(tier: RateTier): void;
    log: Pick<Logger, 'error'>;
    /** Where it is one of several workers, from 1, which may refuse calls of the same agent. */
    seat?: { worker: number; count: number };
  },
  { recordMs = RECORD_MS, maxWaiting = MAX_WAITING } = {},
) {
  let waiting = new Map<AgentKey, Refused>();
  let timer: NodeJS.Timeout | undefined;
  /** The records being written. */
  let writing: Promise<unknown> = Promise.resolve();
  let isStopped = false;
  /** Refused calls that were not counted, since too many agents wait. */
  let lost = 0;

  function add(key: AgentKey, refused: Refused, inMs: number): void {
    const before = waiting.get(key);
    if (before === undefined && waiting.size >= maxWaiting) lost += refused.count;
    else if (before === undefined) waiting.set(key, refused);
    else {
      before.count += refused.count;
      before.since = Math.min(before.since, refused.since);
      before.until = Math.max(before.until, refused.until);
      before.limit = refused.limit;
    }
    if (!isStopped) timer ??= setTimeout(() => void flush(), untilTurn(inMs)).unref();
  }

  /** The milliseconds until a second in which this worker may write, after `inMs` at least. */
  function untilTurn(inMs: number): number {
    if (deps.seat === undefined) return inMs;
    const { worker, count } = deps.seat;
    const now = deps.now();
    const second = Math.ceil((now + inMs) / 1_000);
    const others = (((worker - second) % count) + count) % count;
    return (second + others) * 1_000 + LATE_MS - now;
  }

  /** Writes the counts. A count that the ledger refuses is added to the next one. */
  async function flush(mayWait = true): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const written = waiting;
    waiting = new Map();
    if (lost > 0) {
      deps.log.error(
        { refused: lost },
        'some refused calls are not recorded: too many agents had calls refused at once',
      );
      lost = 0;
    }
    const writes = [...written].map(async ([key, refused]) => {
      const { tenantId } = refused;
      const append = deps.ledger.append(tenantId, toRecord(refused, deps.now()));
      const what = `refused calls of agent ${refused.agentId}`;
      const isWritten = await deps.writes.track(what, append);
      if (!isWritten && mayWait) add(key, refused, RETRY_MS);
    });
    writing = Promise.all([writing, ...writes]);
    await writing;
  }

  return {
    /** Counts a refused call. */
    count(
      { caller, agent }: Pick<AgentCall, 'caller' | 'agent'>,
      limit: ExceededLimit,
      revision: number | null,
    ): void {
      const { tenantId, key } = caller;
      const now = deps.now();
      deps.count(limit.tier);
      const refused = {
        tenantId,
        agentId: agent.id,
        revision,
        count: 1,
        since: now,
        until: now,
        limit,
      };
      add(key, refused, recordMs);
      deps.raiseAlert(tenantId, {
        alert_type: 'AGENT_RATE_LIMITED',
        severity: 'low',
        title: 'An agent exceeds its rate limit',
        bundle_revision: revision,
        agent_id: agent.id,
        details: {
          risk_tier: limit.tier,
          limit: limit.requests,
          window_seconds: limit.window_seconds,
        },
        dedupe_key: `agent-rate-limited:${agent.id}`,
      });
    },

    /** Writes the remaining counts. To be called before the ledger is closed. */
    stop: async (): Promise<void> => {
      isStopped = true;
      // After this, counts that the ledger refused wait again.
      await writing;
      await flush(false);
    },
  };
}

/** @param now when it is written: times of a chain do not run backwards */
function toRecord({ agentId, revision, count, since, until, limit }: Refused, now: number) {
  return {
    type: 'rate_limited',
    id: uuidv7(now),
    timestamp: isoTime(now),
    bundle_revision: revision,
    agent_id: agentId,
    refused: count,
    since: isoTime(since),
    until: isoTime(until),
    limit: limit.requests,
    window_seconds: limit.window_seconds,
    risk_tier: limit.tier,
  } as const;
}
