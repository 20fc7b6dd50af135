/**
 * An MCP session over Streamable HTTP (legacy revisions). A session that the server has forgotten
 * (404) is reopened once; the call that discovered it was not executed and is sent again, so
 * nothing runs twice.
 */

import { randomInt } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { inTime } from '@governance/shared/time/in-time';
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
import { parseUpstreamMessages } from '../message.ts';
import { noRoomYet } from '../shares/answer-room.ts';
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
import { HttpExchange } from './http-exchange.ts';
import { HttpRequest, type HttpRequestLimits } from './http-request.ts';
import { StreamAnswers } from './stream-answers.ts';

interface OpenState {
  info: UpstreamInfo;
  sessionId: string | null;
  /** Ready for undici: names and values in turn. */
  headers: string[];
  /** Whether the server has sent something unprompted. */
  hadStream: boolean;
  answers: StreamAnswers;
}

const CLOSE_TIMEOUT_MS = 2000;
/** For messages whose answer nobody waits for. */
const QUIET_TIMEOUT_MS = 10_000;
const MAX_RELISTEN_MS = 30_000;
/** Some servers send nothing on their stream, not even headers, before their first message. */
const STREAM_WAIT_MS = 500;
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
  #stream: HttpExchange | null = null;
  #leaveStream: (() => void) | null = null;
  #streamAnswered: Promise<void> = Promise.resolve();
  #relistenMs = 1000;
  #relistenTimer: NodeJS.Timeout | undefined;

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
    if (listener !== null) this.#startListening();
    else if (!this.#state?.answers.isExpected) this.#stopListening();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#listener = null;
    this.#options.peer?.abandon();
    this.#stopListening();
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
    await this.#postForAgent(state, 'notifications/initialized');
    // Not sooner: some servers end a session at a request before that.
    await this.#learnWhereAnswered(state);
    // Where the server was not told, this session with it is none.
    requireEligible(this.#options);
    if (this.#isClosed) throw new UpstreamFailure('unreachable', 'the session was closed');
    this.#state = state;
    if (this.#listener !== null || state.answers.isExpected) this.#startListening();
    if (this.#wasOpen) this.#options.onReopened?.();
    this.#wasOpen = true;
    return state;
  }

  async #learnWhereAnswered({ sessionId, headers, answers }: OpenState): Promise<void> {
    if (sessionId === null || !this.#isEligible()) return;
    await answers.learn(this.#channel, headers, this.#nextId++, this.#limits);
  }

  #forget(state: OpenState): void {
    if (this.#state !== state) return;
    this.#state = null;
    this.#options.peer?.abandon();
    this.#stopListening();
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
      resume: (lastEventId, exchange) => {
        const headers = [...eventStreamHeaders(state), 'last-event-id', lastEventId];
        this.#channel.dispatch('streams', 'GET', headers, null, exchange);
      },
      accepted: () => this.#mayAnswerOnStream(state),
      settled: () => state.answers.underWay.delete(id),
      done: (ended) => this.#channel.untrack(ended),
    });
    if (!pending.isOver) state.answers.underWay.set(id, pending);
    return this.#channel.send('calls', state.headers, requestText(id, request), pending);
  }

  #mayAnswerOnStream(state: OpenState): boolean {
    // Without a session, as at `initialize`, no stream is this request's.
    if (state.sessionId === null || this.#state !== state) return false;
    state.answers.isExpected = true;
    if (!state.answers.isStreamRefused) this.#startListening();
    return this.#stream !== null;
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

  #startListening(): void {
    const state = this.#state;
    if (state === null || this.#stream !== null || this.#isClosed) return;
    // An agent that may not act any more may act again later.
    const giveBack = this.#isEligible() ? this.#channel.findStreamRoom() : undefined;
    if (giveBack === undefined) {
      this.#listenLater();
      return;
    }
    const room = this.#channel.openRoom();
    const leave = () => {
      giveBack();
      room.release();
    };
    this.#leaveStream = () => {
      leave();
      state.answers.end(0, new UpstreamFailure('unreachable', 'the session was closed'));
    };
    let status = 0;
    let answered = () => {};
    this.#streamAnswered = new Promise((resolve) => {
      answered = resolve;
    });
    const stream = new HttpExchange(
      {
        onHead: (code) => {
          status = code;
          answered();
          if (code < 300) this.#relistenMs = 1000;
        },
        onMessage: (text) => {
          if (status >= 300) return;
          for (const message of parseUpstreamMessages(text, this.#options.limits.messageNodes)) {
            if (message.kind === 'response') state.answers.take(message);
            else if (message.kind === 'notification') {
              if (!state.answers.takeProgress(message)) this.#notified(message);
            } else if (message.kind === 'request') {
              answerServer(message, this.#options.peer, undefined, this.#replyTo(state));
            }
          }
        },
        hold: (bytes) => (room.hold(bytes) ? null : noRoomYet()),
        onEnd: (_status, error) => {
          answered();
          leave();
          if (this.#stream !== stream) return;
          this.#stream = null;
          state.answers.isStreamRefused = status === 405;
          state.answers.end(status, error);
          if (status < 300) state.hadStream = true;
          // The server has forgotten a session that it had such a stream for.
          if (state.hadStream && (status === 404 || status === 400)) this.#reopen(state);
          // 405 and the like: the server offers no such stream.
          if (status >= 400 && status < 500) return;
          this.#listenLater();
        },
      },
      this.#options.limits.messageBytes,
    );
    this.#stream = stream;
    this.#channel.dispatch('streams', 'GET', eventStreamHeaders(state), null, stream);
  }

  #listenLater(): void {
    clearTimeout(this.#relistenTimer);
    this.#relistenTimer = setTimeout(() => this.#startListening(), this.#relistenMs);
    this.#relistenTimer.unref();
    this.#relistenMs = Math.min(this.#relistenMs * 2, MAX_RELISTEN_MS);
  }

  /** Opens the stream for what comes there with a request: questions, and of some servers the answer. */
  async #prepareStream(state: OpenState, exchange: UpstreamExchange): Promise<void> {
    const { isExpected, isStreamRefused } = state.answers;
    if (!isExpected && !this.#options.peer?.needsStream) return;
    if (isExpected && !isStreamRefused && this.#state === state) {
      this.#startListening();
      if (this.#stream === null) {
        throw new UpstreamFailure('busy', 'Busy: too many streams of servers are open.');
      }
    }
    await this.#streamOpened();
    requireStillWanted(exchange);
  }

  /** A server drops its questions while there is no stream to send them on. */
  async #streamOpened(): Promise<void> {
    if (this.#stream === null) return;
    await inTime(this.#streamAnswered, STREAM_WAIT_MS, () => undefined);
  }

  #notified(notification: UpstreamNotification): void {
    if (notification.method === 'notifications/cancelled') {
      this.#options.peer?.withdraw(notification.params?.requestId);
    } else this.#listener?.(notification);
  }

  #stopListening(): void {
    clearTimeout(this.#relistenTimer);
    this.#stream?.abort();
    this.#stream = null;
    this.#leaveStream?.();
    this.#leaveStream = null;
  }
}

/** For a GET, which has no body and accepts only events. */
function eventStreamHeaders({ headers }: OpenState): string[] {
  return headers
    .map((value) => (value === 'application/json, text/event-stream' ? 'text/event-stream' : value))
    .slice(2);
}

function openState(info: UpstreamInfo, sessionId: string | null, headers: string[]): OpenState {
  return { info, sessionId, headers, hadStream: false, answers: new StreamAnswers() };
}

const NO_INFO: UpstreamInfo = {
  era: 'legacy',
  protocolVersion: '',
  serverInfo: {},
  capabilities: {},
  instructions: null,
};
