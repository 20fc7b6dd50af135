/**
 * A modern server that needs input answers with its questions, and is asked again with the answers.
 * Here the client is asked, for callers that do not know such results.
 */
import { MISSING_CAPABILITY } from '../era.ts';
import { isObject, parseUpstreamMessages } from '../message.ts';
import {
  errorAnswer,
  type ServerRequest,
  type SessionPeer,
  type UpstreamAnswer,
  type UpstreamExchange,
  UpstreamFailure,
} from '../upstream.ts';

/** How often a server may ask in the course of one request. */
export const MAX_ROUNDS = 8;
/** How much a server may ask at once. */
const MAX_REQUESTS = 16;

/** The methods that servers may ask for, each with the client capability it needs. */
const ASKABLE: ReadonlyMap<unknown, string> = new Map([
  ['elicitation/create', 'elicitation'],
  ['sampling/createMessage', 'sampling'],
  ['roots/list', 'roots'],
]);

interface InputRequest extends Omit<ServerRequest, 'id'> {
  key: string;
}

interface Asked {
  peer: SessionPeer | undefined;
  exchange: UpstreamExchange;
  /** Milliseconds until the whole request is given up. */
  timeoutMs: number;
  /** The id of the next question to the peer. */
  nextId(): string;
}

/** The input of the repeated request, or the error with which it ends instead. */
export type Input = { retry: string } | { error: UpstreamAnswer };

/**
 * Gets what a result of type `input_required` asks for.
 *
 * @throws UpstreamFailure where the result is malformed, or the client did not answer in time
 */
export async function findInput(required: unknown, asked: Asked): Promise<Input> {
  const { requests, requestState } = parseRequired(required as Record<string, unknown>);
  const members: string[] = [];
  if (requests !== null) {
    const { peer } = asked;
    if (peer === undefined && requests.length > 0) return { error: unsupported(requests) };
    const given = peer === undefined ? [] : await askAll(peer, requests, asked);
    if (!Array.isArray(given)) return { error: given };
    members.push(`"inputResponses":{${given.join(',')}}`);
  }
  if (requestState !== undefined) members.push(`"requestState":${JSON.stringify(requestState)}`);
  return { retry: members.join(',') };
}

function parseRequired(result: Record<string, unknown>) {
  const { inputRequests, requestState } = result;
  if (requestState !== undefined && typeof requestState !== 'string') throw malformed('its state');
  if (inputRequests === undefined) {
    if (requestState === undefined) throw malformed('nothing');
    return { requests: null, requestState };
  }
  if (!isObject(inputRequests)) throw malformed('no object');
  const entries = Object.entries(inputRequests);
  if (entries.length > MAX_REQUESTS) throw malformed(`more than ${MAX_REQUESTS} requests`);
  const requests = entries.map(([key, request]): InputRequest => {
    if (!isObject(request) || !ASKABLE.has(request.method)) throw malformed('what no client has');
    const { method, params } = request;
    return { key, method: method as string, params: isObject(params) ? params : {} };
  });
  return { requests, requestState };
}

/**
 * Asks everything at once. The first failure ends it, and the others are withdrawn.
 *
 * @returns the members of `inputResponses`, or the error that the request ends with
 */
async function askAll(
  peer: SessionPeer,
  requests: InputRequest[],
  { exchange, timeoutMs, nextId }: Asked,
): Promise<string[] | UpstreamAnswer> {
  const { cancellation, send } = exchange;
  const open = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const ended = new Promise<never>((_resolve, reject) => {
    const fail = (kind: 'timeout' | 'cancelled', message: string) =>
      reject(new UpstreamFailure(kind, message));
    timer = setTimeout(() => fail('timeout', 'the client did not answer in time'), timeoutMs);
    cancellation.onCancel = () => fail('cancelled', 'the client cancelled it');
  });
  const errors: UpstreamAnswer[] = [];
  const ask = async ({ key, method, params }: InputRequest): Promise<string> => {
    const id = nextId();
    open.add(id);
    const text = await peer.ask({ id, method, params }, send);
    open.delete(id);
    const answer = readAnswer(text);
    if (answer.kind === 'result') return `${JSON.stringify(key)}:${answer.raw}`;
    errors.push(notGiven(method, answer));
    throw new Error('what the server asked for was not given');
  };
  try {
    return await Promise.race([ended, Promise.all(requests.map(ask))]);
  } catch (error) {
    const [first] = errors;
    if (first === undefined || error instanceof UpstreamFailure) throw error;
    return first;
  } finally {
    clearTimeout(timer);
    cancellation.onCancel = null;
    for (const id of open) peer.withdraw(id);
  }
}

/** Reads the client's response as written by the peer, which read it within bounds. */
function readAnswer(text: string | null): UpstreamAnswer {
  if (text === null) throw new UpstreamFailure('unreachable', 'the client gave no answer');
  const [message] = parseUpstreamMessages(text, Number.POSITIVE_INFINITY);
  if (message?.kind !== 'response')
    throw new UpstreamFailure('malformed', 'no response of a client');
  return message.answer;
}

function notGiven(method: string, { value }: UpstreamAnswer): UpstreamAnswer {
  const { code, message } = value as { code: number; message: string };
  const why = `The server asks for ${method}, which it is not given: ${message}`;
  // To the caller, a method that the client lacks is an undeclared capability.
  return code === -32601 ? missing(why, [method]) : errorAnswer(code, why);
}

function unsupported(requests: InputRequest[]): UpstreamAnswer {
  const methods = [...new Set(requests.map(({ method }) => method))];
  const why = `The server asks for ${methods.join(', ')}, which this client does not support.`;
  return missing(why, methods);
}

function missing(why: string, methods: readonly string[]): UpstreamAnswer {
  const named = methods.map((method) => [ASKABLE.get(method) ?? method, {}]);
  return errorAnswer(MISSING_CAPABILITY, why, { requiredCapabilities: Object.fromEntries(named) });
}

function malformed(what: string): UpstreamFailure {
  return new UpstreamFailure('malformed', `the server asked for input with ${what}`);
}
