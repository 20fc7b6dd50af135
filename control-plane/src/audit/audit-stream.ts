/**
 * The live stream (specification 1, section 6): server-sent events read from the table by their
 * position in the tenant's order of receipt, which is also their id. The bus only signals when to
 * read, so nothing is lost between a read and a wait, after a reconnection, or between replicas.
 *
 * A reader gets the next page when it has read the one before: a slow reader costs no memory, and a
 * stalled one is dropped and resumes by Last-Event-ID.
 */

import { AppError } from '@governance/shared/errors';
import { inTime } from '@governance/shared/time/in-time';
import { readProtectionPolicy } from '../payloads/protection-policy.ts';
import type { ChangeBus } from '../platform/database/change-bus.ts';
import type { TenantDatabase, TenantScope } from '../platform/database/tenant-scope.ts';
import { auditStore } from './audit-store.ts';
import { type StreamEvent, startOfAnswer, toStreamEvent } from './stream-event.ts';

export interface AuditStreamDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  changes: ChangeBus;
  /** SERVICE_SSE_KEEPALIVE_SECONDS, in milliseconds. */
  keepaliveMs: number;
  /** How long a reader may stall before it is dropped. */
  stalledAfterMs?: number;
  now: () => Date;
}

export interface StreamRequest {
  scope: TenantScope;
  /** The id of the last event that the client has; undefined: new events only. */
  lastEventId: number | undefined;
  /** Aborts when the connection is gone. */
  signal: AbortSignal;
  /** Closes the connection of a stalled reader. */
  drop(): void;
  /**
   * Asked at each keep-alive, and every 15 seconds at least, whatever is being sent. The stream ends
   * when it rejects (an expired or revoked token).
   */
  authorize(): Promise<unknown>;
}

export interface AuditStream {
  /**
   * @returns the text of the stream, chunk by chunk, endless until the signal or `stop`
   * @throws AppError RATE_LIMITED beyond MAX_STREAMS_PER_TENANT, UNAVAILABLE after `stop`
   */
  open(request: StreamRequest): AsyncGenerator<string>;
  /** Announces the end on every stream, after the events already stored, and ends them all. */
  stop(message: string): Promise<void>;
}

export const MAX_STREAMS_PER_TENANT = 100;
const PAGE = 50;
/** Small commits that come together are read together. */
const LOOK_AT_MOST_EVERY_MS = 20;
const STALLED_AFTER_MS = 60_000;
const AUTHORIZE_EVERY_MS = 15_000;
const STOP_WITHIN_MS = 3_000;

interface OpenStream {
  tenantId: string;
  wake(): void;
  drop(): void;
  done: Promise<void>;
}

export function createAuditStream(deps: AuditStreamDeps): AuditStream {
  const { stalledAfterMs = STALLED_AFTER_MS } = deps;
  const streams = new Set<OpenStream>();
  let stopping: string | undefined;

  return {
    open: ({ scope, lastEventId, signal, drop, authorize }) => {
      if (stopping !== undefined) throw new AppError('UNAVAILABLE');
      const { tenantId } = scope;
      const ofTenant = [...streams].filter((stream) => stream.tenantId === tenantId);
      if (ofTenant.length >= MAX_STREAMS_PER_TENANT) {
        throw new AppError(
          'RATE_LIMITED',
          'This tenant has reached its limit of open streams: close one, or try again later.',
        );
      }
      const bell = createBell();
      let end = () => {};
      const done = new Promise<void>((resolve) => {
        end = resolve;
      });
      const stream: OpenStream = { tenantId, wake: bell.ring, drop, done };
      const unsubscribe = deps.changes.subscribe((change) => {
        if (change.tenantId === tenantId && change.position !== undefined) bell.ring();
      }, bell.ring);
      const close = () => {
        unsubscribe();
        streams.delete(stream);
        signal.removeEventListener('abort', onAbort);
        end();
      };
      // A stream that nobody reads would never end on its own.
      const onAbort = () => {
        bell.ring();
        close();
      };
      streams.add(stream);
      signal.addEventListener('abort', onAbort);
      if (signal.aborted) onAbort();

      const chunks = (async function* () {
        try {
          yield 'retry: 2000\n\n';
          let cursor = await beginAt(scope, lastEventId);
          const keepalive = createTimer(deps.keepaliveMs);
          const check = createTimer(Math.min(deps.keepaliveMs, AUTHORIZE_EVERY_MS));
          while (!signal.aborted) {
            const announced = stopping;
            const page = await readPage(scope, cursor);
            cursor = page.cursor;
            // Before the page is sent, and also while the reader is far behind.
            if (check.isDue() && !(await isStillAuthorized(authorize))) {
              yield format(notification('The token is no longer valid.'));
              return;
            }
            if (page.text !== '') yield page.text;
            if (keepalive.isDue()) yield ':keepalive\n\n';
            if (page.isFull) continue;
            if (announced !== undefined) {
              yield format(notification(announced));
              return;
            }
            await bell.rung(Math.min(keepalive.msLeft(), check.msLeft()));
          }
        } finally {
          close();
        }
      })();
      return dropWhenStalled(chunks, drop, stalledAfterMs);
    },

    stop: async (message) => {
      stopping = message;
      const open = [...streams];
      for (const stream of open) stream.wake();
      const done = Promise.all(open.map((stream) => stream.done));
      await inTime(done, STOP_WITHIN_MS, () => undefined);
      for (const stream of streams) stream.drop();
    },
  };

  function beginAt(scope: TenantScope, lastEventId: number | undefined): Promise<number> {
    return deps.db.inTenant(scope, async (tx) => {
      const newest = await auditStore(tx).newestPosition();
      return lastEventId === undefined ? newest : Math.min(lastEventId, newest);
    });
  }

  async function readPage(scope: TenantScope, cursor: number) {
    const { rows, started, isStripped } = await deps.db.inTenant(scope, async (tx) => {
      const store = auditStore(tx);
      const found = await store.readAfter(cursor, PAGE);
      return {
        rows: found,
        started: await store.findStarted(found.flatMap((row) => startOfAnswer(row) ?? [])),
        isStripped: (await readProtectionPolicy(tx)).stripPayloadFromStream,
      };
    });
    let text = '';
    for (const row of rows) {
      const event = toStreamEvent(row, started.get(row.position));
      if (event) text += format(isStripped ? stripped(event) : event, row.position);
    }
    return { text, cursor: rows.at(-1)?.position ?? cursor, isFull: rows.length === PAGE };
  }

  function notification(message: string): StreamEvent {
    return { event_type: 'system_notification', timestamp: deps.now().toISOString(), message };
  }
}

/**
 * Passes the chunks on, and calls `onStalled` when the consumer does not ask for the next one in
 * time.
 */
async function* dropWhenStalled(
  chunks: AsyncGenerator<string>,
  onStalled: () => void,
  stalledAfterMs: number,
): AsyncGenerator<string> {
  for await (const chunk of chunks) {
    const timer = setTimeout(onStalled, stalledAfterMs);
    try {
      yield chunk;
    } finally {
      clearTimeout(timer);
    }
  }
}

/**
 * Fields that quote a call or follow from its content: `strip_payload_from_stream` removes them, from
 * alerts' details too.
 */
const SAID_BY_CALLS = [
  'target',
  'policy_reason',
  'dlp_findings',
  'findings',
  'requester_id',
  'instruction_hash',
  'payload_digest',
  'result_payload_digest',
];

function stripped(event: StreamEvent): StreamEvent {
  const { details } = event;
  return {
    event_type: event.event_type,
    ...withoutSaid(event),
    ...(typeof details === 'object' && details !== null && { details: withoutSaid(details) }),
  };
}

/** A number of such a name counts something, and quotes nothing. */
const withoutSaid = (object: object) =>
  Object.fromEntries(
    Object.entries(object).filter(
      ([name, value]) => typeof value === 'number' || !SAID_BY_CALLS.includes(name),
    ),
  );

function format(event: StreamEvent, id?: number): string {
  return `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(event)}\n\n`;
}

async function isStillAuthorized(authorize: () => Promise<unknown>): Promise<boolean> {
  try {
    await authorize();
    return true;
  } catch {
    // A failed check also ends it: the client reconnects and is checked again.
    return false;
  }
}

/** Is due every `everyMs`, and not again before it was asked. */
function createTimer(everyMs: number) {
  let next = performance.now() + everyMs;
  return {
    isDue: (): boolean => {
      if (performance.now() < next) return false;
      next = performance.now() + everyMs;
      return true;
    },
    msLeft: () => next - performance.now(),
  };
}

/** May ring before a wait begins; each ring wakes one wait. */
function createBell() {
  let rung = false;
  let listener: (() => void) | undefined;
  const ring = () => {
    rung = true;
    listener?.();
  };
  return {
    ring,
    /** Resolves after a ring, or after `ms`. */
    rung: async (ms: number): Promise<void> => {
      const started = performance.now();
      if (!rung) {
        let timer: NodeJS.Timeout | undefined;
        await new Promise<void>((resolve) => {
          listener = resolve;
          timer = setTimeout(resolve, Math.max(0, ms));
        });
        clearTimeout(timer);
        listener = undefined;
      }
      // The flag is cleared before the read, so a ring during the read is not lost.
      const pause = LOOK_AT_MOST_EVERY_MS - (performance.now() - started);
      if (rung && pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
      rung = false;
    },
  };
}
