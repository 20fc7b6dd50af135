/**
 * An MCP session over Streamable HTTP (legacy revisions). A session that the server has forgotten
 * (404) is reopened once; the call that discovered it was not executed and is sent again, so
 * nothing runs twice.
 */

import { randomInt } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { shareRun } from '../../storage/share-run.ts';
import { type EraCandidate, EraRefusal, eraRefusalOf, requireLegacyKnows } from '../era.ts';
import {
  answerServer,
  bareNotification,
  cancelledText,
  initializeRequest,
  parseInitializeAnswer,
  requestText,
  type SessionOptions,
} from '../initialize.ts';
import {
  ownExchange,
  requireEligible,
  requireStillWanted,
  type UpstreamAnswer,
  type UpstreamExchange,
  UpstreamFailure,
  type UpstreamInfo,
  type UpstreamNotification,
  type UpstreamRequest,
} from '../upstream.ts';
import { HttpChannel, type HttpChannelOptions } from './http-channel.ts';
import { HttpRequest, type HttpRequestLimits } from './http-request.ts';
import { SeenEvents } from './resume-point.ts';
import { eventHeaders, SessionStream } from './session-stream.ts';
import { StreamAnswers } from './stream-answers.ts';

interface OpenState {
  info: UpstreamInfo;
  sessionId: string | null;
  /** Ready for undici: names and values in turn. */
  headers: string[];
  /** The events of all its streams. */
  seen: SeenEvents;
  answers: StreamAnswers;
  /** Null while it is not open yet. */
  stream: SessionStream | null;
}

const CLOSE_TIMEOUT_MS = 2000;
/** For messages whose answer nobody waits for. */
const QUIET_TIMEOUT_MS = 10_000;
/** Where ids begin, at most: some servers read them into 32 bits. */
const MAX_FIRST_ID = 2 ** 30;

export class HttpUpstreamSession implements EraCandidate {
  readonly #options: HttpChannelOptions & SessionOptions;
  readonly #channel: HttpChannel;
  readonly #limits: HttpRequestLimits;
  #state: OpenState | null = null;
  readonly #open = shareRun(() =>
    this.#initialize().catch((error: unknown) => {
      const failure = eraRefusalOf(error);
      if (failure instanceof EraRefusal) this.#options.onEraRefused?.();
      throw failure;
    }),
  );
  /** Another for each session: some servers mix up sessions whose ids are the same. */
  #nextId = randomInt(1, MAX_FIRST_ID);
  #pending = 0;
  #isClosed = false;
  #wasOpen = false;
  #listener: ((notification: UpstreamNotification) => void) | null = null;

  constructor(options: HttpChannelOptions & SessionOptions) {
    this.#options = options;
    this.#channel = new HttpChannel(options);
    this.#limits = { ...options.limits, openRoom: this.#channel.openRoom };
  }

  get pending(): number {
    return this.#pending;
  }

  get isOpen(): boolean {
    return this.#state !== null;
  }

  async open(): Promise<UpstreamInfo> {
    return (this.#state ?? (await this.#open())).info;
  }

  async request(request: UpstreamRequest, exchange: UpstreamExchange): Promise<UpstreamAnswer> {
    requireStillWanted(exchange);
    this.#pending++;
    try {
      let state = this.#state;
      if (state === null) {
        state = await this.#open();
        requireStillWanted(exchange);
      }
      requireLegacyKnows(request, state.info);
      await this.#prepareStream(state, exchange);
      const answer = await this.#send(state, request, exchange);
      if (answer !== 'session-gone') return answer;
      this.#forget(state);
      const anew = this.#state ?? (await this.#open());
      requireStillWanted(exchange);
      await this.#prepareStream(anew, exchange);
      const again = await this.#send(anew, request, exchange);
      if (again !== 'session-gone') return again;
      throw new UpstreamFailure('refused', 'the server knows no session, not even a new one');
    } finally {
      this.#pending--;
    }
  }

  notify(method: string): void {
    if (this.#state !== null) void this.#postForAgent(this.#state, method);
  }

  listen(listener: ((notification: UpstreamNotification) => void) | null): void {
    this.#listener = listener;
    if (listener !== null) this.#state?.stream?.start();
    else if (this.#state !== null) stopUnneeded(this.#state);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#listener = null;
    this.#options.peer?.abandon();
    this.#state?.stream?.stop();
    this.#channel.abortAll();
    const state = this.#state;
    this.#state = null;
    if (state !== null) await this.#end(state);
  }

  /** Tells the server that the session is over. Never rejects. */
  async #end({ sessionId, headers }: OpenState): Promise<void> {
    if (sessionId === null) return;
    await this.#channel.sendQuietly('DELETE', headers, null, CLOSE_TIMEOUT_MS);
  }

  async #initialize(): Promise<OpenState> {
    if (this.#isClosed) throw new UpstreamFailure('unreachable', 'the session was closed');
    const base = await this.#channel.prepare();
    requireEligible(this.#options);
    let sessionId: string | null = null;
    const request = initializeRequest(this.#options);
    const provisional = openState(NO_INFO, null, base);
    const exchange = {
      ...ownExchange(),
      findIneligibility: () => this.#options.findIneligibility(),
    };
    const answer = await this.#send(provisional, request, exchange, (headers) => {
      const value = headers['mcp-session-id'];
      if (typeof value === 'string' && /^[\x21-\x7e]{1,1024}$/.test(value)) sessionId = value;
    });
    if (answer === 'session-gone') throw new EraRefusal('no MCP server is there (404)', 0);
    const info = parseInitializeAnswer(answer);
    const headers = [...base, 'mcp-protocol-version', info.protocolVersion];
    if (sessionId !== null) headers.push('mcp-session-id', sessionId);
    const state = openState(info, sessionId, headers);
    state.stream = this.#createStream(state);
    await this.#postForAgent(state, 'notifications/initialized');
    // Not sooner: some servers end a session at a request before that.
    await this.#learnWhereAnswered(state);
    // Where the server was not told, this session with it is none.
    requireEligible(this.#options);
    if (this.#isClosed) throw new UpstreamFailure('unreachable', 'the session was closed');
    this.#state = state;
    const { isExpected, isUnsure } = state.answers;
    if (this.#listener !== null || isExpected || isUnsure) state.stream.start();
    if (this.#wasOpen) this.#options.onReopened?.();
    this.#wasOpen = true;
    return state;
  }

  async #learnWhereAnswered(state: OpenState): Promise<void> {
    const { sessionId, headers, answers } = state;
    if (sessionId === null || !this.#isEligible()) return;
    await answers.learn(this.#channel, headers, this.#nextId++, this.#limits, () =>
      this.#learned(state),
    );
  }

  /** It is known where the server answers. */
  #learned(state: OpenState): void {
    state.answers.isUnsure = false;
    if (this.#listener === null) stopUnneeded(state);
  }

  #forget(state: OpenState): void {
    if (this.#state !== state) return;
    this.#state = null;
    this.#options.peer?.abandon();
    state.stream?.stop();
  }

  /** Resumes listening. If that fails, the next request tries again. */
  #reopen(state: OpenState): void {
    this.#forget(state);
    if (this.#listener !== null) this.#open().catch(() => undefined);
  }

  #send(
    state: OpenState,
    request: UpstreamRequest,
    exchange: UpstreamExchange,
    onHeaders?: (headers: IncomingHttpHeaders) => void,
  ): Promise<UpstreamAnswer | 'session-gone'> {
    const id = this.#nextId++;
    const { peer } = this.#options;
    const pending = new HttpRequest(id, exchange, this.#limits, {
      onHeaders,
      asked: (asked, send) => answerServer(asked, peer, send, this.#replyTo(state)),
      withdrawn: (requestId) => peer?.withdraw(requestId),
      abandon: () => {
        // Nobody waits any more: the server may stop working on it (MCP, cancellation).
        if (request.method !== 'initialize') this.#post(state, () => cancelledText(id));
      },
      // It is unknown whether it ran, so it is not sent again; the next one gets a new session. A
      // server that has the old one still would keep it.
      refused: (status) => {
        if (status !== 400) return;
        this.#forget(state);
        if (this.#pending === 1) void this.#end(state);
      },
      rest: {
        seen: state.seen,
        fetch: (lastEventId, exchange) => {
          const headers = [...eventHeaders(state.headers), 'last-event-id', lastEventId];
          this.#channel.dispatch('streams', 'GET', headers, null, exchange);
        },
      },
      accepted: () => this.#mayAnswerOnStream(state),
      settled: (isInPost) => {
        state.answers.underWay.delete(id);
        if (isInPost && state.answers.isUnsure) this.#learned(state);
      },
      done: (ended) => this.#channel.untrack(ended),
    });
    if (!pending.isOver) state.answers.underWay.set(id, pending);
    return this.#channel.send('calls', state.headers, requestText(id, request), pending);
  }

  #mayAnswerOnStream(state: OpenState): boolean {
    const { sessionId, answers, stream } = state;
    // Without a session, as at `initialize`, no stream is this request's.
    if (sessionId === null || stream === null || this.#state !== state) return false;
    answers.isExpected = true;
    answers.isUnsure = false;
    if (!answers.isStreamRefused) stream.start();
    return stream.hasPlace;
  }

  /** Sends what has no answer: notifications and answers. Never rejects. */
  #post(state: OpenState, findBody: () => string | undefined): Promise<void> {
    return this.#channel.sendQuietly('POST', state.headers, findBody, QUIET_TIMEOUT_MS);
  }

  /** A notification on behalf of the agent, which may not act any more when there is room for it. */
  #postForAgent(state: OpenState, method: string): Promise<void> {
    return this.#post(state, () => (this.#isEligible() ? bareNotification(method) : undefined));
  }

  /** A client's answer may wait for its share: its agent may not act any more by then. */
  #replyTo(state: OpenState) {
    return (text: string, withheld: string) =>
      void this.#post(state, () => (this.#isEligible() ? text : withheld));
  }

  #isEligible(): boolean {
    return this.#options.findIneligibility() === undefined;
  }

  #createStream(state: OpenState): SessionStream {
    return new SessionStream({
      channel: this.#channel,
      headers: state.headers,
      answers: state.answers,
      seen: state.seen,
      findIneligibility: () => this.#options.findIneligibility(),
      onMessage: (message) => {
        if (message.kind === 'notification') this.#notified(message);
        else answerServer(message, this.#options.peer, undefined, this.#replyTo(state));
      },
      onForgotten: () => this.#reopen(state),
    });
  }

  /** Opens the stream for what comes there with a request: questions, and of some servers the answer. */
  async #prepareStream(state: OpenState, exchange: UpstreamExchange): Promise<void> {
    const { answers, stream } = state;
    const mayBeThere = answers.isExpected || answers.isUnsure;
    if (stream === null || (!mayBeThere && !this.#options.peer?.needsStream)) return;
    if (mayBeThere && !answers.isStreamRefused && this.#state === state) {
      stream.start();
      if (!stream.hasPlace && !answers.isExpected) await answers.pinged;
      if (!stream.hasPlace && answers.isExpected) {
        throw new UpstreamFailure('busy', 'Busy: too many streams of servers are open.');
      }
    }
    await stream.opened;
    requireStillWanted(exchange);
  }

  #notified(notification: UpstreamNotification): void {
    if (notification.method === 'notifications/cancelled') {
      this.#options.peer?.withdraw(notification.params?.requestId);
    } else this.#listener?.(notification);
  }
}

/** Nobody listens: the stream is needed where answers come, or may come, on it. */
function stopUnneeded({ answers, stream }: OpenState): void {
  if (!answers.isExpected && !answers.isUnsure) stream?.stop();
}

function openState(info: UpstreamInfo, sessionId: string | null, headers: string[]): OpenState {
  const answers = new StreamAnswers();
  return { info, sessionId, headers, seen: new SeenEvents(), answers, stream: null };
}

const NO_INFO: UpstreamInfo = {
  era: 'legacy',
  protocolVersion: '',
  serverInfo: {},
  capabilities: {},
  instructions: null,
};
