/** The answer to a client of a model, streamed: headers, pieces, and an end or a break. */
import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { answerForm, isStream } from './usage-reader.ts';

/** The response headers of a runtime that are passed on. */
const PASSED = [
  'content-type',
  'content-encoding',
  'content-length',
  'cache-control',
  'retry-after',
];

export class ModelReply {
  /** Whether something was sent: a refusal is no longer possible. */
  isBegun = false;
  readonly #reply: FastifyReply;
  readonly #raw: ServerResponse;

  constructor(reply: FastifyReply) {
    this.#reply = reply;
    this.#raw = reply.raw;
  }

  /** Sends the head at once, since a model may take long before its first word. */
  begin(status: number, headers: IncomingHttpHeaders): void {
    this.isBegun = true;
    const passed: OutgoingHttpHeaders = { ...(this.#reply.getHeaders() as OutgoingHttpHeaders) };
    if (isStream(answerForm(headers['content-type']))) {
      passed['cache-control'] = 'no-cache, no-transform';
      passed['x-accel-buffering'] = 'no';
    }
    for (const name of PASSED) if (headers[name] !== undefined) passed[name] = headers[name];
    const [type] = [passed['content-type']].flat();
    // Where there are several, the first one counts here, so only that one is passed on.
    if (type !== undefined) passed['content-type'] = type;
    this.#reply.hijack();
    this.#raw.on('error', () => undefined);
    this.#raw.writeHead(status, passed);
    this.#raw.flushHeaders();
  }

  /** Sends a piece; a promise where the client has to read first. It resolves if the client leaves. */
  write(piece: Buffer): Promise<void> | undefined {
    const raw = this.#raw;
    if (raw.destroyed || raw.write(piece)) return undefined;
    return new Promise((resolve) => {
      const done = () => {
        raw.off('drain', done);
        raw.off('close', done);
        resolve();
      };
      raw.on('drain', done);
      raw.on('close', done);
    });
  }

  end(): void {
    if (!this.#raw.destroyed) this.#raw.end();
  }

  /** An answer that broke off upstream breaks off here: no client may take it for complete. */
  cut(): void {
    this.#raw.destroy();
  }
}
