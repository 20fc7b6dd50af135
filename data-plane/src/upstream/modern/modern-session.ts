/**
 * A modern MCP server (2026-07-28) as the gateway uses it. Such a server is stateless between
 * requests: what a legacy client sends its server once is kept here and sent with each request, and
 * the server's questions in results are put to the client. A request is never sent twice, unless
 * the server said that it did not process it.
 */

import { shareRun } from '../../storage/share-run.ts';
import {
  type EraCandidate,
  EraRefusal,
  eraRefusalOf,
  HEADER_MISMATCH,
  MODERN_REVISION,
  ProcessExit,
  supportedVersions,
} from '../era.ts';
import type { SessionOptions } from '../initialize.ts';
import {
  EMPTY_RESULT,
  isTimeout,
  ownExchange,
  requireEligible,
  requireStillWanted,
  type UpstreamAnswer,
  type UpstreamExchange,
  UpstreamFailure,
  type UpstreamInfo,
  type UpstreamLimits,
  type UpstreamNotification,
  type UpstreamRequest,
} from '../upstream.ts';
import { logLevelMember, metaMembers, parseDiscoverAnswer } from './envelope.ts';
import { findInput, MAX_ROUNDS } from './input-rounds.ts';
import { findMember } from './members.ts';
import { legacyResult, resultTypeOf } from './results.ts';
import { Subscriptions } from './subscriptions.ts';
import type { ToolHeaders } from './tool-headers.ts';
import type { ModernTransport } from './transport.ts';

export interface ModernSessionOptions extends Omit<SessionOptions, 'onReopened'> {
  limits: UpstreamLimits;
  /** The parameters mirrored in headers, of the server's tools. */
  toolHeaders?: ToolHeaders | undefined;
  /** The server gave no usable answer to the first request. */
  onOpenFailed?: (() => void) | undefined;
}

/** Pages of a tool list that are read to find the headers of one tool. */
const MAX_PAGES = 20;
/** The answer of legacy SDKs' servers to a missing session. */
const MISSING_SESSION: readonly unknown[] = [-32000, -32001];
/** Whether a process of unknown era exited at the first request, or answered it with no MCP. */
const isUnknowing = (error: UpstreamFailure) =>
  error instanceof ProcessExit || error.kind === 'malformed';

export class ModernUpstreamSession implements EraCandidate {
  readonly #options: ModernSessionOptions;
  readonly #transport: ModernTransport;
  readonly #subscriptions: Subscriptions;
  readonly #meta: string;
  #info: UpstreamInfo | null = null;
  readonly #open = shareRun((patienceMs?: number) => this.#discover(patienceMs));
  #pending = 0;
  #isClosed = false;
  #nextAsk = 1;
  #logLevel: string | null = null;
  #listener: ((notification: UpstreamNotification) => void) | null = null;

  constructor(transport: ModernTransport, options: ModernSessionOptions) {
    this.#transport = transport;
    this.#options = options;
    this.#meta = metaMembers(options);
    this.#subscriptions = new Subscriptions({
      timeoutMs: options.limits.timeoutMs,
      onNotification: (notification) => this.#listener?.(notification),
      // Asked for anew by timers too, long after the request that began it.
      open: async (members, exchange) => {
        requireEligible(options);
        const method = 'subscriptions/listen';
        const request = { method, members, meta: this.#meta, wantsProgress: false };
        return await this.#transport.send(request, exchange, null);
      },
    });
  }

  get pending(): number {
    return this.#pending;
  }

  get isOpen(): boolean {
    return this.#info !== null;
  }

  /** @param patienceMs how long the server may be silent while its era is unknown */
  open(patienceMs?: number): Promise<UpstreamInfo> {
    return this.#info === null ? this.#open(patienceMs) : Promise.resolve(this.#info);
  }

  async request(request: UpstreamRequest, exchange: UpstreamExchange): Promise<UpstreamAnswer> {
    requireStillWanted(exchange);
    this.#pending++;
    try {
      if (this.#info === null) {
        await this.open();
        requireStillWanted(exchange);
      }
      switch (request.method) {
        case 'ping':
          return EMPTY_RESULT;
        case 'logging/setLevel':
          this.#logLevel = textMember(request.members, 'level') ?? null;
          return EMPTY_RESULT;
        case 'resources/subscribe':
          return await this.#subscriptions.add(textMember(request.members, 'uri') ?? '');
        case 'resources/unsubscribe':
          this.#subscriptions.remove(textMember(request.members, 'uri') ?? '');
          return EMPTY_RESULT;
        case 'subscriptions/listen':
          throw new UpstreamFailure('unsupported', 'The gateway listens to servers by itself.');
        default:
          return await this.#ask(request, exchange);
      }
    } catch (error) {
      if (eraRefusalOf(error) instanceof EraRefusal) this.#doubt();
      throw error;
    } finally {
      this.#pending--;
    }
  }

  /** Notifications of legacy clients that do not exist in this revision. */
  notify(): void {}

  listen(listener: ((notification: UpstreamNotification) => void) | null): void {
    this.#listener = listener;
    this.#subscriptions.listen(listener !== null);
  }

  close(): Promise<void> {
    this.#isClosed = true;
    this.#listener = null;
    this.#lost();
    return this.#transport.close();
  }

  async #discover(patienceMs: number | undefined): Promise<UpstreamInfo> {
    try {
      this.#requireOpen();
      await this.#transport.connect({
        notified: (notification) => this.#listener?.(notification),
        lost: () => this.#lost(),
      });
      this.#requireOpen();
      requireEligible(this.#options);
      const request = { method: 'server/discover', members: '', wantsProgress: false };
      const timeoutMs = Math.min(patienceMs ?? Infinity, this.#options.limits.timeoutMs);
      const answer = await this.#transport.send(
        { ...request, meta: this.#meta },
        ownExchange(),
        timeoutMs,
      );
      const info = parseDiscoverAnswer(answer);
      this.#requireOpen();
      this.#info = info;
      this.#subscriptions.resume(info.capabilities);
      return info;
    } catch (error) {
      const isProbe = patienceMs !== undefined;
      const failure =
        isProbe && error instanceof UpstreamFailure && isUnknowing(error)
          ? new EraRefusal(error.message, 0, { cause: error })
          : eraRefusalOf(error);
      if (failure instanceof EraRefusal) this.#options.onEraRefused?.();
      // A server that was silent to a probe is closed before the other era is tried.
      else if (!isProbe || !isTimeout(failure)) this.#options.onOpenFailed?.();
      throw failure;
    }
  }

  #requireOpen(): void {
    if (this.#isClosed) throw new UpstreamFailure('unreachable', 'the session was closed');
  }

  #lost(): void {
    this.#info = null;
    this.#options.peer?.abandon();
    this.#subscriptions.suspend();
  }

  /** The answer is not a modern server's: the next request detects the era again. */
  #doubt(): void {
    if (this.#info === null) return;
    this.#info = null;
    this.#options.onEraRefused?.();
  }

  async #ask(request: UpstreamRequest, exchange: UpstreamExchange): Promise<UpstreamAnswer> {
    const until = performance.now() + this.#options.limits.timeoutMs;
    let retry = request.retry;
    for (let round = 0; ; round++) {
      const answer = await this.#send(request, retry, exchange, until);
      if (answer.kind === 'error') {
        this.#look(answer);
        return answer;
      }
      const type = resultTypeOf(request.method, answer);
      if (exchange.takesEveryResult) return answer;
      if (type === 'complete') return legacyResult(answer);
      if (type === 'task') {
        throw new UpstreamFailure('malformed', 'the server made it a task without being asked');
      }
      if (round === MAX_ROUNDS) {
        throw new UpstreamFailure('malformed', `the server asked for input ${round} times`);
      }
      const input = await findInput(answer.value, {
        peer: this.#options.peer,
        exchange,
        timeoutMs: Math.max(until - performance.now(), 0),
        nextId: () => `input-${this.#nextAsk++}`,
      });
      if ('error' in input) return input.error;
      requireStillWanted(exchange);
      retry = input.retry;
    }
  }

  async #send(
    { method, members, wantsProgress }: UpstreamRequest,
    retry: string | undefined,
    exchange: UpstreamExchange,
    until: number,
  ): Promise<UpstreamAnswer> {
    const level = exchange.logLevel ?? this.#logLevel;
    const request = {
      method,
      members: [members, retry].filter((part) => part).join(','),
      meta: level === null ? this.#meta : this.#meta + logLevelMember(level),
      wantsProgress,
    };
    const { toolHeaders } = this.#options;
    const send = () => this.#transport.send(request, exchange, remaining(until));
    const answer = await send();
    if (toolHeaders === undefined) return answer;
    if (method === 'tools/list') return toolHeaders.learn(answer);
    if (method !== 'tools/call' || answer.kind === 'result') return answer;
    if ((answer.value as { code: unknown }).code !== HEADER_MISMATCH) return answer;
    // The headers did not match, so the server did not process it (MCP, server validation).
    if (!(await this.#learnHeaders(members, toolHeaders, exchange, until))) return answer;
    requireStillWanted(exchange);
    return send();
  }

  /** Reads the list of tools as far as the called tool; whether it has headers. */
  async #learnHeaders(
    members: string,
    toolHeaders: ToolHeaders,
    asker: UpstreamExchange,
    until: number,
  ): Promise<boolean> {
    const tool = textMember(members, 'name') ?? '';
    let cursor: unknown;
    for (let page = 0; page < MAX_PAGES; page++) {
      const members = typeof cursor === 'string' ? `"cursor":${JSON.stringify(cursor)}` : '';
      const request = { method: 'tools/list', members, meta: this.#meta, wantsProgress: false };
      requireStillWanted(asker);
      const exchange = ownExchange(asker.cancellation);
      const answer = await this.#transport.send(request, exchange, remaining(until));
      if (answer.kind === 'error') return false;
      toolHeaders.learn(answer);
      const { tools, nextCursor } = answer.value as { tools?: unknown; nextCursor?: unknown };
      const isThere = Array.isArray(tools) && tools.some((one) => one?.name === tool);
      if (isThere || typeof nextCursor !== 'string') break;
      cursor = nextCursor;
    }
    return toolHeaders.has(tool);
  }

  /** An error may show that the server has changed its era. */
  #look(answer: UpstreamAnswer): void {
    const supported = supportedVersions(answer);
    const { code } = answer.value as { code: unknown };
    const isOther = supported !== null && !supported.includes(MODERN_REVISION);
    if (isOther || MISSING_SESSION.includes(code)) this.#doubt();
  }
}

function remaining(until: number): number {
  return Math.max(until - performance.now(), 1);
}

function textMember(members: string, name: string): string | undefined {
  const value: unknown = JSON.parse(findMember(members, name) ?? 'null');
  return typeof value === 'string' ? value : undefined;
}
