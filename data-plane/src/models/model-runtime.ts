/**
 * The connection to the local model runtime, whose address the operator configures. It is asked
 * once; its answer is passed on piece by piece, no faster than the client reads.
 */
import { withoutTrailingSlashes } from '@governance/shared/text';
import { Agent, type Dispatcher, errors } from 'undici';
import type { ModelAnswer } from '../enforcement/call/answer.ts';
import {
  requireStillWanted,
  type UpstreamExchange,
  UpstreamFailure,
} from '../upstream/upstream.ts';
import type { ModelReply } from './model-reply.ts';
import type { sentToRuntime } from './model-request.ts';
import { answerForm, isStream, UsageReader } from './usage-reader.ts';

export interface ModelRuntimeOptions {
  /** SERVICE_LOCALMODEL_URL. */
  url: string;
  /** Until the answer begins, and between two of its pieces. */
  timeoutMs: number;
  /** The interval at which a stream's agent is checked for eligibility. */
  checkMs: number;
}

type Reader = Pick<ModelReply, 'begin' | 'write' | 'end' | 'cut'>;

export type ModelRuntime = ReturnType<typeof createModelRuntime>;

/** Builds it. Nothing is connected yet. */
export function createModelRuntime({ url, timeoutMs, checkMs }: ModelRuntimeOptions) {
  const { origin, pathname } = new URL(url);
  const base = withoutTrailingSlashes(pathname);
  // No limits of its own: the share was counted already, and time is limited below.
  const agent = new Agent({ pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
  const underWay = new Map<AbortController, Promise<unknown>>();

  /** Ends what is asked when its time is over, or its agent may not have it any more. */
  function limit(ending: AbortController, exchange: UpstreamExchange) {
    const give = (kind: 'timeout' | 'cancelled' | 'ineligible', why: string) =>
      ending.abort(new UpstreamFailure(kind, why));
    exchange.cancellation.onCancel = () => give('cancelled', 'the client has left');
    const silence = createSilence(timeoutMs, () => give('timeout', 'the runtime was silent'));
    // A stream may outlive its agent's permission.
    const checks = setInterval(() => {
      const ineligible = exchange.findIneligibility?.();
      if (ineligible !== undefined) give('ineligible', ineligible);
    }, checkMs);
    const stop = () => {
      silence.stop();
      clearInterval(checks);
      exchange.cancellation.onCancel = null;
    };
    return { silence, stop };
  }

  const send = ({ path, body }: ReturnType<typeof sentToRuntime>, signal: AbortSignal) =>
    agent
      .request({
        origin,
        path: `${base}${path}`,
        method: body === null ? 'GET' : 'POST',
        body,
        signal,
        headers: {
          accept: '*/*',
          'accept-encoding': 'identity',
          ...(body !== null && { 'content-type': 'application/json' }),
        },
      })
      .catch((error: unknown) => {
        throw failureOf(error, signal);
      });

  async function askUntil(
    ending: AbortController,
    request: ReturnType<typeof sentToRuntime>,
    exchange: UpstreamExchange,
    client: Reader,
  ): Promise<ModelAnswer> {
    const { silence, stop } = limit(ending, exchange);
    try {
      const response = await send(request, ending.signal);
      return await passOn(response, exchange, client, ending, silence);
    } finally {
      stop();
    }
  }

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
      request: ReturnType<typeof sentToRuntime>,
      exchange: UpstreamExchange,
      client: Reader,
    ): Promise<ModelAnswer> {
      requireStillWanted(exchange);
      const ending = new AbortController();
      const answer = askUntil(ending, request, exchange, client);
      underWay.set(ending, answer);
      try {
        return await answer;
      } finally {
        underWay.delete(ending);
      }
    },

    /** Ends what is in progress. */
    async close(): Promise<void> {
      const stopped = new UpstreamFailure('cancelled', 'the service stops');
      const ended = [...underWay.values()];
      for (const ending of underWay.keys()) ending.abort(stopped);
      await agent.destroy();
      await Promise.allSettled(ended);
      // What was ended still has to write its records.
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

/** Passes an answer to the client as it arrives, and reads the counts in it. */
async function passOn(
  { statusCode: status, headers, body }: Dispatcher.ResponseData,
  exchange: Pick<UpstreamExchange, 'onAnswerStarted'>,
  client: Reader,
  ending: AbortController,
  silence: ReturnType<typeof createSilence>,
): Promise<ModelAnswer> {
  const isPlain = (headers['content-encoding'] ?? 'identity') === 'identity';
  const form = answerForm(headers['content-type']);
  const usage = new UsageReader(isPlain ? form : 'other');
  let bytes = 0;
  let failure: UpstreamFailure | undefined;
  try {
    if (isStream(form)) exchange.onAnswerStarted?.(status);
    client.begin(status, headers);
  } catch (error) {
    // Else the connection would stay, since nobody reads from it.
    ending.abort();
    throw error;
  }
  // A client that does not read would keep a stream that has been ended waiting for it.
  ending.signal.addEventListener('abort', () => client.cut(), { once: true });
  try {
    for await (const piece of body as AsyncIterable<Buffer>) {
      bytes += piece.length;
      usage.push(piece);
      // What the client takes is not the runtime's silence.
      silence.stop();
      await client.write(piece);
      silence.start();
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
}

/** A time-out that counts from each start until it is stopped. */
function createSilence(ms: number, onEnd: () => void) {
  let timer: NodeJS.Timeout | undefined;
  const stop = () => clearTimeout(timer);
  const start = () => {
    stop();
    timer = setTimeout(onEnd, ms);
  };
  start();
  return { start, stop };
}

/** Unless somebody here ended it, the runtime did. */
function failureOf(error: unknown, { aborted, reason }: AbortSignal): UpstreamFailure {
  if (aborted && reason instanceof UpstreamFailure) return reason;
  const isMalformed =
    error instanceof errors.HTTPParserError || error instanceof errors.HeadersOverflowError;
  const message = error instanceof Error ? `${error.name}: ${error.message}` : 'unknown';
  return new UpstreamFailure(isMalformed ? 'malformed' : 'unreachable', message, { cause: error });
}
