/**
 * Streamable HTTP of the modern era: a POST for each request, whose headers repeat parts of the
 * body. Ending the exchange cancels a request, and no stream is resumed.
 */
import { MODERN_REVISION } from '../era.ts';
import type { HttpChannel } from '../http/http-channel.ts';
import { HttpRequest } from '../http/http-request.ts';
import { type UpstreamAnswer, type UpstreamExchange, UpstreamFailure } from '../upstream.ts';
import { type ModernRequest, modernRequestText, NAMED_BY } from './envelope.ts';
import { findMember } from './members.ts';
import { headerValue, type ToolHeaders } from './tool-headers.ts';
import type { ModernTransport } from './transport.ts';

export class HttpModernTransport implements ModernTransport {
  readonly #channel: HttpChannel;
  readonly #toolHeaders: ToolHeaders;
  #headers: string[] | null = null;
  #nextId = 1;

  constructor(channel: HttpChannel, toolHeaders: ToolHeaders) {
    this.#channel = channel;
    this.#toolHeaders = toolHeaders;
  }

  async connect(): Promise<void> {
    this.#headers ??= [
      ...(await this.#channel.prepare()),
      ...['mcp-protocol-version', MODERN_REVISION],
    ];
  }

  async send(
    request: ModernRequest,
    exchange: UpstreamExchange,
    timeoutMs: number | null,
  ): Promise<UpstreamAnswer> {
    const isStream = timeoutMs === null;
    const leave = isStream ? this.#channel.findStreamRoom() : undefined;
    if (isStream && leave === undefined) {
      throw new UpstreamFailure('busy', 'Busy: too many streams of servers are open.');
    }
    try {
      return await this.#send(request, exchange, timeoutMs);
    } finally {
      leave?.();
    }
  }

  async #send(
    request: ModernRequest,
    exchange: UpstreamExchange,
    timeoutMs: number | null,
  ): Promise<UpstreamAnswer> {
    const id = this.#nextId++;
    const traffic = timeoutMs === null ? 'streams' : 'calls';
    const headers = [...(this.#headers ?? []), ...this.#headersOf(request)];
    const text = modernRequestText(id, request);
    const { openRoom, limits } = this.#channel;
    const pending = new HttpRequest(
      id,
      exchange,
      { ...limits, timeoutMs, isStateless: true, openRoom },
      { refused: () => undefined, done: (ended) => this.#channel.untrack(ended) },
    );
    const answer = await this.#channel.send(traffic, headers, text, pending);
    if (answer !== 'session-gone') return answer;
    throw new UpstreamFailure('refused', 'the server knows no session');
  }

  async close(): Promise<void> {
    this.#channel.abortAll();
  }

  #headersOf({ method, members }: ModernRequest): string[] {
    const headers = ['mcp-method', method];
    const source = NAMED_BY.get(method);
    const name: unknown = source && JSON.parse(findMember(members, source) ?? 'null');
    if (typeof name === 'string') headers.push('mcp-name', headerValue(name));
    if (method === 'tools/call') headers.push(...this.#toolHeaders.of(members));
    return headers;
  }
}
