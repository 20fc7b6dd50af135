/**
 * Which MCP a server speaks. A server of the other era refuses the first request of a session; what
 * it says tells that from a server that is away, or that wants another credential.
 */
import { LRUCache } from 'lru-cache';
import { isLoopError, LOOP_MESSAGE } from './hops.ts';
import {
  type Era,
  type UpstreamAnswer,
  UpstreamFailure,
  type UpstreamInfo,
  type UpstreamRequest,
} from './upstream.ts';

/** The revisions of MCP with sessions and `initialize`, the best first. */
export const LEGACY_REVISIONS = ['2025-11-25', '2025-06-18', '2025-03-26'] as const;
/** The revision that the gateway speaks to modern servers. */
export const MODERN_REVISION = '2026-07-28';

/** JSON-RPC codes of MCP 2026-07-28. */
export const HEADER_MISMATCH = -32020;
export const MISSING_CAPABILITY = -32021;
export const UNSUPPORTED_VERSION = -32022;

/** The server answered with an HTTP status, and with nothing that is MCP. */
export class StatusFailure extends UpstreamFailure {
  readonly status: number;

  constructor(status: number) {
    // What a proxy says of a server that is not there.
    const isAway = status >= 502 && status <= 504;
    super(isAway ? 'unreachable' : 'refused', `the server answered HTTP ${status}`);
    this.status = status;
  }
}

/** The process ended by itself, as some do at a request that they do not know. */
export class ProcessExit extends UpstreamFailure {
  constructor(why: string) {
    super('unreachable', `the process ended (${why})`);
  }
}

/** The server does not take the first request of a session: it may be one of the other era. */
export class EraRefusal extends UpstreamFailure {
  /** How much the refusal says; of two the one that says more is reported. */
  readonly weight: number;

  constructor(message: string, weight: number, options?: { cause?: unknown }) {
    super('refused', message, options);
    this.weight = weight;
  }
}

/** Statuses of 4xx that concern who asks, or when; they are the same in both eras. */
const NOT_OF_ERA = new Set([401, 402, 403, 407, 408, 425, 429, 451]);

/** Reads why a session could not be opened: an EraRefusal where the other era is worth a try. */
export function eraRefusalOf(error: unknown): unknown {
  if (!(error instanceof StatusFailure)) return error;
  const { status, message } = error;
  const isOfEra = (status >= 400 && status < 500 && !NOT_OF_ERA.has(status)) || status === 501;
  return isOfEra ? new EraRefusal(message, status === 404 ? 0 : 1, { cause: error }) : error;
}

/** The refusal that a JSON-RPC error is, in answer to the first request of a session. */
export function refusalFrom(method: string, answer: UpstreamAnswer): UpstreamFailure {
  // The same in both eras, so that the other is not tried.
  if (isLoopError(answer.value)) return new UpstreamFailure('loop', LOOP_MESSAGE);
  const supported = supportedVersions(answer);
  if (supported !== null) {
    const own = [MODERN_REVISION, ...LEGACY_REVISIONS].join(', ');
    const theirs = supported.slice(0, 8).join(', ').slice(0, 200);
    return new EraRefusal(`the server speaks MCP ${theirs}, the gateway ${own}`, 3);
  }
  const { code } = answer.value as { code: number };
  const said = answer.raw.slice(0, 200);
  return new EraRefusal(`${method} was answered with ${said}`, code === -32601 ? 1 : 2);
}

/** The versions that a server names as those it speaks; null where it does not say. */
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

/** Fails what a legacy server cannot be asked. */
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

/** What is known of a server's era is found out anew after that: servers learn the other one. */
const MEMORY_MS = 3_600_000;

/**
 * The eras that servers were found not to have, bounded: what was asked the longest ago goes.
 *
 * @param elapsed monotonic milliseconds
 */
export function createEraMemory(max: number, elapsed: () => number = () => performance.now()) {
  const perf = { now: elapsed };
  const lacks = new LRUCache<string, Era>({ max, ttl: MEMORY_MS, ttlResolution: 0, perf });
  return {
    findLack: (key: string): Era | undefined => lacks.get(key),
    // To set undefined is to delete.
    keepLack: (key: string, era: Era | undefined): void => void lacks.set(key, era),
  };
}
