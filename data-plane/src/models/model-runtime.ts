/**
 * The connection to the local model runtime, whose address the operator configures. It is asked
 * once; its answer is passed on piece by piece, no faster than the client reads.
 */
import { withoutTrailingSlashes } from '@governance/shared/text';
import { Agent, errors } from 'undici';
import type { ModelAnswer } from '../enforcement/answer.ts';
import {
  requireStillWanted,
  type UpstreamExchange,
  UpstreamFailure,
} from '../upstream/upstream.ts';
import type { ModelReply } from './model-reply.ts';
import type { sentToRuntime } from './model-request.ts';
import { answerForm, UsageReader } from './usage-reader.ts';

export interface ModelRuntimeOptions {
  /** SERVICE_LOCALMODEL_URL. */
  url: string;
  /** Until the answer begins, and between two of its pieces. */
  timeoutMs: number;
  /** The interval at which a stream's agent is checked for eligibility. */
  checkMs: number;
}

export type ModelRuntime = ReturnType<typeof createModelRuntime>;

/** Builds it. Nothing is connected yet. */
export function createModelRuntime({ url, timeoutMs, checkMs }: ModelRuntimeOptions) {
  const { origin, pathname } = new URL(url);
  const base = withoutTrailingSlashes(pathname);
  // No limits of its own: the share was counted already, and time is limited below.
  const agent = new Agent({ pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
  const underWay = new Set<AbortController>();

  return {
    /**
     * Asks the runtime.
     *
     * @param request.body null for a GET
     * @param client receives the answer as it arrives
     * @returns how an answer that had begun ended, complete or not
     * @throws UpstreamFailure where none was begun
     */
    async ask(
      { path, body }: ReturnType<typeof sentToRuntime>,
      exchange: UpstreamExchange,
      client: Pick<ModelReply, 'begin' | 'write' | 'end' | 'cut'>,
    ): Promise<ModelAnswer> {
      requireStillWanted(exchange);
      const ending = new AbortController();
      underWay.add(ending);
      const give = (kind: 'timeout' | 'cancelled' | 'ineligible', why: string) =>
        ending.abort(new UpstreamFailure(kind, why));
      exchange.cancellation.onCancel = () => give('cancelled', 'the client has left');
      const timer = setTimeout(() => give('timeout', 'the runtime was silent'), timeoutMs);
      // A stream may outlive its agent's permission.
      const checks = setInterval(() => {
        const ineligible = exchange.findIneligibility?.();
        if (ineligible !== undefined) give('ineligible', ineligible);
      }, checkMs);
      try {
        const response = await agent
          .request({
            origin,
            path: `${base}${path}`,
            method: body === null ? 'GET' : 'POST',
            body,
            signal: ending.signal,
            headers: {
              accept: '*/*',
              'accept-encoding': 'identity',
              ...(body !== null && { 'content-type': 'application/json' }),
            },
          })
          .catch((error: unknown) => {
            throw failureOf(error, ending.signal);
          });
        const { statusCode: status, headers, body: pieces } = response;
        const isPlain = (headers['content-encoding'] ?? 'identity') === 'identity';
        const type = headers['content-type'];
        const form = isPlain && typeof type === 'string' ? answerForm(type) : 'other';
        const usage = new UsageReader(form);
        let bytes = 0;
        let failure: UpstreamFailure | undefined;
        client.begin(status, headers);
        try {
          for await (const piece of pieces as AsyncIterable<Buffer>) {
            bytes += piece.length;
            usage.push(piece);
            await client.write(piece);
            timer.refresh();
          }
          client.end();
        } catch (error) {
          failure = failureOf(error, ending.signal);
          client.cut();
        }
        const { isError, ...known } = usage.end();
        return {
          kind: 'model',
          usage: { status, ...known },
          bytes,
          isError: isError || status >= 400,
          failure,
        };
      } finally {
        clearTimeout(timer);
        clearInterval(checks);
        underWay.delete(ending);
        exchange.cancellation.onCancel = null;
      }
    },

    /** Ends what is in progress. */
    async close(): Promise<void> {
      const stopped = new UpstreamFailure('cancelled', 'the service stops');
      for (const ending of underWay) ending.abort(stopped);
      await agent.destroy();
      // What was ended still has to write its records.
      while (underWay.size > 0) await new Promise((resolve) => setImmediate(resolve));
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

/** Unless somebody here ended it, the runtime did. */
function failureOf(error: unknown, { aborted, reason }: AbortSignal): UpstreamFailure {
  if (aborted && reason instanceof UpstreamFailure) return reason;
  const isMalformed =
    error instanceof errors.HTTPParserError || error instanceof errors.HeadersOverflowError;
  const message = error instanceof Error ? `${error.name}: ${error.message}` : 'unknown';
  return new UpstreamFailure(isMalformed ? 'malformed' : 'unreachable', message, { cause: error });
}
