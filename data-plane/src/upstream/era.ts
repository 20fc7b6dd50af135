/**
 * Detects a server's era. A server of the other era refuses the first request of a session; its
 * answer distinguishes that from a server that is down, or that wants another credential.
 */
import { HOUR_MS } from '@governance/shared/time/durations';
import { LRUCache } from 'lru-cache';
import { isLoopError, LOOP_MESSAGE } from './hops.ts';
import {
  type Era,
  type UpstreamAnswer,
  UpstreamFailure,
  type UpstreamInfo,
  type UpstreamRequest,
  type UpstreamSession,
} from './upstream.ts';

/** A session of one era, which is opened only while none is open in the other. */
export interface EraCandidate extends Omit<UpstreamSession, 'open'> {
  /** @param patienceMs how long the server may be silent while its era is unknown */
  open(patienceMs?: number): Promise<UpstreamInfo>;
}

/** The revisions of MCP with sessions and `initialize`, the newest first. */
export const LEGACY_REVISIONS = ['2025-11-25', '2025-06-18', '2025-03-26'] as const;
/** Those that a server may speak: many programs still answer with the first one (ADR 111). */
export const SERVER_REVISIONS = [...LEGACY_REVISIONS, '2024-11-05'] as const;
/** The revision that the gateway speaks to modern servers. */
export const MODERN_REVISION = '2026-07-28';

/** JSON-RPC codes of MCP 2026-07-28. */
export const HEADER_MISMATCH = -32020;
export const MISSING_CAPABILITY = -32021;
const UNSUPPORTED_VERSION = -32022;

/** The server answered with an HTTP status but without MCP. */
export class StatusFailure extends UpstreamFailure {
  readonly status: number;

  constructor(status: number) {
    // A proxy's answer for a server that is down.
    const isAway = status >= 502 && status <= 504;
    super(isAway ? 'unreachable' : 'refused', `the server answered HTTP ${status}`);
    this.status = status;
  }
}

/** The process exited by itself, as some do at an unknown request, or closed its pipes. */
export class ProcessExit extends UpstreamFailure {
  constructor(why: string) {
    super('unreachable', `the process ended (${why})`);
  }
}

/** The server refuses the first request of a session: it may be of the other era. */
export class EraRefusal extends UpstreamFailure {
  /** How specific the refusal is; of two, the more specific one is reported. */
  readonly weight: number;

  constructor(message: string, weight: number, options?: { cause?: unknown }) {
    super('refused', message, options);
    this.weight = weight;
  }
}

/** 4xx statuses that concern the sender or the time; they are the same in both eras. */
const NOT_OF_ERA = new Set([401, 402, 403, 407, 408, 425, 429, 451]);

/** Interprets a failure to open a session: an EraRefusal where the other era is worth a try. */
export function eraRefusalOf(error: unknown): unknown {
  if (!(error instanceof StatusFailure)) return error;
  const { status, message } = error;
  const isOfEra = (status >= 400 && status < 500 && !NOT_OF_ERA.has(status)) || status === 501;
  return isOfEra ? new EraRefusal(message, status === 404 ? 0 : 1, { cause: error }) : error;
}

/** Interprets a JSON-RPC error as answer to the first request of a session. */
export function refusalFrom(method: string, answer: UpstreamAnswer): UpstreamFailure {
  // The same in both eras, so the other is not tried.
  if (isLoopError(answer.value)) return new UpstreamFailure('loop', LOOP_MESSAGE);
  const supported = supportedVersions(answer);
  if (supported !== null) return otherVersions(supported);
  const { code } = answer.value as { code: number };
  const shown = answer.raw.slice(0, 200);
  return new EraRefusal(`${method} was answered with ${shown}`, code === -32601 ? 1 : 2);
}

/** The refusal of a server that names its versions. */
export function otherVersions(supported: readonly string[]): EraRefusal {
  const own = [MODERN_REVISION, ...SERVER_REVISIONS].join(', ');
  const theirs = supported.slice(0, 8).join(', ').slice(0, 200);
  return new EraRefusal(`the server speaks MCP ${theirs}, the gateway ${own}`, 3);
}

/** The versions that a server names as supported; null where it names none. */
export function supportedVersions({ kind, value }: UpstreamAnswer): string[] | null {
  if (kind !== 'error') return null;
  const { code, data } = value as { code: number; data?: { supported?: unknown } };
  const supported = data?.supported;
  if (code !== UNSUPPORTED_VERSION || !Array.isArray(supported)) return null;
  return supported.filter((one) => typeof one === 'string');
}

const ONLY_MODERN = new Set([
  'server/discover',
  'subscriptions/listen',
  'tasks/get',
  'tasks/update',
  'tasks/cancel',
]);

/** Fails a request that a legacy server cannot receive. */
export function requireLegacyKnows(
  { method, retry }: UpstreamRequest,
  { protocolVersion }: UpstreamInfo,
): void {
  if (retry !== undefined) {
    throw new UpstreamFailure(
      'unsupported',
      `The server speaks MCP ${protocolVersion}, which has no input_required: it waits for no input. Make the request without requestState.`,
    );
  }
  if (ONLY_MODERN.has(method)) {
    throw new UpstreamFailure(
      'unsupported',
      `${method} is not in MCP ${protocolVersion}, which the server speaks.`,
    );
  }
}

/** After this time a server's era is detected again: servers get upgraded. */
const MEMORY_MS = HOUR_MS;

/**
 * The eras that servers were found not to support, bounded: the least recently used is evicted.
 *
 * @param elapsed monotonic milliseconds
 */
export function createEraMemory(max: number, elapsed: () => number = () => performance.now()) {
  const perf = { now: elapsed };
  const lacks = new LRUCache<string, Era>({ max, ttl: MEMORY_MS, ttlResolution: 0, perf });
  return {
    findLack: (key: string): Era | undefined => lacks.get(key),
    // Setting undefined deletes.
    keepLack: (key: string, era: Era | undefined): void => void lacks.set(key, era),
  };
}
