/**
 * A control plane over HTTP: requests and their limits in time and size, and what its answers mean
 * (shared/src/channel/channel-routes.ts has the paths). An answer counts as the control plane's own when
 * it has the form that was agreed; anything else, such as a proxy's page, is as if there were none.
 * Redirects are not followed: the token goes to the configured address and nowhere else. Proven
 * by control-plane-link.test.ts.
 */
import { ByteCollector } from '@governance/shared/byte-collector';
import { ERRORS, type ErrorCode } from '@governance/shared/errors';
import { ErrorBody } from '@governance/shared/http/http-errors';
import { parseStrictJson } from '@governance/shared/json/strict-json';
import { Agent, type Dispatcher, request } from 'undici';
import type { z } from 'zod';
import { AnswerRefusedError, LinkError } from './link-error.ts';

const CONNECT_MS = 5_000;
/** Time limit of an answer, beyond the wait that was asked for. */
const ANSWER_MS = 10_000;
/** Time limit for the rest of an answer once it began. */
const BODY_MS = 120_000;
const ERROR_BYTES = 64 * 1024;
const SMALL_ANSWER_NODES = 10_000;
const MAX_DEPTH = 32;

export interface ControlPlaneRequest {
  method: 'GET' | 'POST';
  path: string;
  token: string;
  query?: Record<string, string | number>;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  contentType?: string;
  signal?: AbortSignal | undefined;
  /** How long the server was asked to hold the answer. */
  waitMs?: number;
  /** How long a large answer may take. */
  bodyMs?: number;
  /** What an answer of this status means in addition to its `detail`. */
  codes?: Partial<Record<number, ErrorCode>>;
}

export type ControlPlaneClient = ReturnType<typeof createControlPlaneClient>;

const ErrorAnswer = ErrorBody.extend({ errors: ErrorBody.shape.errors.catch(undefined) });

/** @param url the control plane's address, without a slash at its end */
export function createControlPlaneClient(
  url: string,
  limits: { connectMs?: number; answerMs?: number } = {},
) {
  const agent = new Agent({
    connect: { timeout: limits.connectMs ?? CONNECT_MS },
    keepAliveTimeout: 30_000,
    pipelining: 1,
  });
  const answerMs = limits.answerMs ?? ANSWER_MS;

  async function send(asked: ControlPlaneRequest) {
    const waitMs = (asked.waitMs ?? 0) + answerMs;
    const ending = AbortSignal.timeout(waitMs + (asked.bodyMs ?? BODY_MS));
    const signal = asked.signal ? AbortSignal.any([asked.signal, ending]) : ending;
    let response: Dispatcher.ResponseData;
    try {
      response = await request(`${url}${asked.path}`, {
        dispatcher: agent,
        method: asked.method,
        query: asked.query,
        headers: {
          authorization: `Bearer ${asked.token}`,
          'user-agent': 'agent-governance-data-plane',
          ...(asked.contentType && { 'content-type': asked.contentType }),
          ...asked.headers,
        },
        body: asked.body ?? null,
        signal,
        headersTimeout: waitMs,
        bodyTimeout: answerMs,
      });
    } catch (cause) {
      throw unreachable(cause);
    }
    // The reader of the body gets its errors; there may be no reader yet, or none any more.
    response.body.on('error', () => undefined);
    const { statusCode: status } = response;
    if (status >= 300 && status !== 304) throw await errorOf(response, asked);
    return answerOf(response);
  }

  return {
    /**
     * @returns the answer with a status below 300, or 304; its body must be read
     * @throws LinkError with the code of the answer; UNAVAILABLE where there was none
     */
    send,
    close: (): Promise<void> => agent.destroy(),
  };
}

function answerOf({ statusCode, headers, body }: Dispatcher.ResponseData) {
  const header = (name: string) => firstOf(headers[name]);
  return {
    status: statusCode,
    header,
    /** @throws AnswerRefusedError answer_too_large */
    bytes: (limit: number) => readBytes(body, limit),
    /** The body as it arrives. Must be read to its end or abandoned by `return`. */
    chunks: () => readChunks(body),
    /**
     * Parses a JSON body.
     *
     * @param limit bytes, at most
     * @param maxNodes values and keys, at most
     * @throws AnswerRefusedError when it does not match the schema
     */
    json: async <T>(
      schema: z.ZodType<T>,
      limit: number,
      maxNodes = SMALL_ANSWER_NODES,
    ): Promise<T> => {
      if (!isJson(header('content-type'))) {
        body.destroy();
        throw new LinkError('UNAVAILABLE', `a page that is no JSON (status ${statusCode})`);
      }
      const bytes = await readBytes(body, limit);
      try {
        return schema.parse(parseStrictJson(bytes, { maxDepth: MAX_DEPTH, maxNodes }));
      } catch (cause) {
        const message = 'the answer is not of the form that was agreed';
        throw new AnswerRefusedError('answer_malformed', message, { cause });
      }
    },
  };
}

async function readBytes(body: AsyncIterable<Uint8Array>, limit: number): Promise<Buffer> {
  const bytes = new ByteCollector(limit);
  for await (const chunk of readChunks(body)) {
    if (!bytes.add(chunk)) {
      throw new AnswerRefusedError('answer_too_large', `the answer has more than ${limit} bytes`);
    }
  }
  return bytes.take();
}

/** An answer that breaks off counts as none. */
async function* readChunks(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) yield chunk;
  } catch (cause) {
    throw unreachable(cause);
  }
}

async function errorOf(
  response: Dispatcher.ResponseData,
  asked: ControlPlaneRequest,
): Promise<LinkError> {
  const { statusCode: status, headers } = response;
  const retryAfterMs = readRetryAfter(firstOf(headers['retry-after']));
  const refusal = await readError(response);
  if (!refusal) {
    const detail = `status ${status}, which the control plane did not say`;
    return new LinkError('UNAVAILABLE', detail, { retryAfterMs });
  }
  const { detail, errors } = refusal;
  const isFault = status === 500;
  const options = { retryAfterMs, isFromControlPlane: true, isFault, ...(errors && { errors }) };
  return new LinkError(codeOf(status, detail, asked.codes), detail, options);
}

async function readError({ headers, body }: Dispatcher.ResponseData) {
  if (!isJson(firstOf(headers['content-type']))) {
    body.destroy();
    return null;
  }
  try {
    const bytes = await readBytes(body, ERROR_BYTES);
    const parsed = ErrorAnswer.safeParse(JSON.parse(bytes.toString('utf8')));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

/** The table's own text names its code; otherwise the route defines what a status means there. */
function codeOf(
  status: number,
  detail: string,
  codes: ControlPlaneRequest['codes'] = {},
): ErrorCode {
  // After a server error, its effect is unknown: it counts as no answer.
  if (status >= 500) return 'UNAVAILABLE';
  const ofStatus = (Object.keys(ERRORS) as ErrorCode[]).filter(
    (code) => ERRORS[code][0] === status,
  );
  const named = ofStatus.find((code) => ERRORS[code][1] === detail);
  return named ?? codes[status] ?? DEFAULT_CODES[status] ?? ofStatus[0] ?? 'UNAVAILABLE';
}

const DEFAULT_CODES: Partial<Record<number, ErrorCode>> = {
  400: 'BAD_REQUEST',
  401: 'DATA_PLANE_TOKEN_INVALID',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
};

/** @returns milliseconds; seconds or a date are understood */
function readRetryAfter(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (/^\d{1,9}$/.test(text.trim())) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - Date.now());
}

function unreachable(cause: unknown): unknown {
  if (cause instanceof LinkError || cause instanceof AnswerRefusedError) return cause;
  const { code, message } = cause as NodeJS.ErrnoException;
  const why = code ? `${code}: ${message}` : message;
  return new LinkError('UNAVAILABLE', `the control plane was not reached (${why})`, { cause });
}

function isJson(type: string | undefined): boolean {
  return type !== undefined && /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type);
}

function firstOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
