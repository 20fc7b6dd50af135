/**
 * One request forwarded to another worker, and its answer returned, both streamed. On undici's
 * dispatcher, its lower level: most requests of a session may come this way, and its request API
 * costs more than the rest of the hop.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { ByteCollector } from '@governance/shared/byte-collector';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Dispatcher } from 'undici';
import { GatewayError } from '../gateway/json-rpc.ts';

/** A body of a known length up to this is sent at once: the owner needs it whole anyway. */
const ONE_PIECE_BYTES = 64 * 1024;

/**
 * Forwards a request whose body was not read. Resolves when the answer has ended, or its client
 * went.
 *
 * @throws GatewayError when there is no answer and none was begun
 */
export async function forward(
  way: Dispatcher,
  { raw }: FastifyRequest,
  answer: PassedAnswer,
): Promise<void> {
  // Not the request itself: undici destroys a body that it could not send, and with it the
  // connection that the refusal has to be sent on.
  let stream: PassThrough | null = null;
  let body: Buffer | PassThrough | null = null;
  try {
    const length = Number(raw.headers['content-length'] ?? 0);
    const isChunked = raw.headers['transfer-encoding'] !== undefined;
    // That of a GET, which nobody reads: its end has come already, and does not come again.
    if (raw.readableEnded && length > 0) throw new GatewayError(400, 'This method has no body.');
    if (!isChunked && length > 0 && length <= ONE_PIECE_BYTES) {
      body = await readWhole(raw);
      // The client left in the middle of it.
      if (body === null) return;
    } else if (isChunked || length > 0) {
      stream = raw.pipe(new PassThrough());
      stream.on('error', () => undefined);
      body = stream;
    }
    way.dispatch(
      {
        method: raw.method as Dispatcher.HttpMethod,
        path: raw.url ?? '/',
        headers: endToEnd(raw),
        body,
        // Calls and streams last as long as the owner lets them.
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      answer,
    );
    await answer.ended;
  } finally {
    if (stream !== null) {
      raw.unpipe(stream);
      raw.resume();
    }
  }
}

export class PassedAnswer implements Dispatcher.DispatchHandler {
  readonly ended: Promise<void>;
  readonly #reply: FastifyReply;
  readonly #raw: ServerResponse;
  #controller: Dispatcher.DispatchController | null = null;
  #resolve: () => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;
  #isBegun = false;
  #isStopped = false;
  readonly #onClose = () => this.stop();
  readonly #onDrain = () => this.#controller?.resume();

  constructor(reply: FastifyReply) {
    this.#reply = reply;
    this.#raw = reply.raw;
    this.ended = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#raw.once('close', this.#onClose);
  }

  /** Ends the passage early, in both directions. */
  stop(): void {
    this.#isStopped = true;
    this.#controller?.abort(new Error('the passage was ended'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isStopped) this.stop();
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (status < 200) return;
    this.#isBegun = true;
    this.#reply.hijack();
    this.#raw.on('error', () => undefined);
    this.#raw.on('drain', this.#onDrain);
    this.#raw.writeHead(status, withoutHops(headers));
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#raw.write(chunk)) controller.pause();
  }

  onResponseEnd(): void {
    this.#raw.end();
    this.#settle(null);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (!this.#isBegun && !this.#raw.destroyed) {
      this.#settle(refusal(error, this.#isStopped));
      return;
    }
    // Once begun, an answer that breaks off there breaks off here.
    this.#raw.destroy();
    this.#settle(null);
  }

  #settle(error: GatewayError | null): void {
    this.#raw.off('close', this.#onClose);
    if (error === null) this.#resolve();
    else this.#reject(error);
  }
}

/** @returns null where the client left before it had sent everything */
function readWhole(raw: IncomingMessage): Promise<Buffer | null> {
  return new Promise((resolve) => {
    const body = new ByteCollector(ONE_PIECE_BYTES);
    raw.on('data', (chunk: Buffer) => body.add(chunk));
    raw.once('end', () => resolve(body.take()));
    raw.once('error', () => resolve(null));
    raw.once('close', () => resolve(null));
  });
}

/** They belong to a single connection (RFC 9110, section 7.6.1). */
const HOP_BY_HOP = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Names and values in turn, as received. */
function endToEnd({ rawHeaders, headers }: IncomingMessage): string[] {
  // caller-controlled: there may be as many names as headers, so a list would be searched as often.
  const named = new Set(
    (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase()),
  );
  const passed: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    const lower = name.toLowerCase();
    if (HOP_BY_HOP.has(lower) || named.has(lower)) continue;
    passed.push(name, rawHeaders[at + 1] as string);
  }
  return passed;
}

function withoutHops(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name)));
}

/** If no connection was made, nothing was sent: the session is gone, but no call was lost. */
const NOT_CONNECTED = new Set(['ENOENT', 'ECONNREFUSED', 'UND_ERR_CONNECT_TIMEOUT']);

function refusal(error: Error, isStopping: boolean): GatewayError {
  const { code } = error as { code?: string };
  if (code !== undefined && NOT_CONNECTED.has(code)) {
    return new GatewayError(404, 'No such session.');
  }
  const why = isStopping
    ? 'The service stops: try again in a moment.'
    : 'The worker of this session ended meanwhile: try again, or initialize anew.';
  return new GatewayError(503, why);
}
