/**
 * A process from the operator's file that speaks MCP over its standard input and output, and the
 * requests in progress with it. It is started on first use, and restarted on use after it exited.
 * The session that holds it decides which MCP is spoken.
 */
import type { Logger } from 'pino';
import { shareRun } from '../../storage/share-run.ts';
import { ProcessExit } from '../era.ts';
import { cancelledText, requestText } from '../initialize.ts';
import { parseUpstreamMessages, type UpstreamMessage } from '../message.ts';
import { createAllowance } from '../pacing.ts';
import { type AnswerBytes, hasRoomFor, noRoom, noRoomFor } from '../shares/answer-room.ts';
import {
  ownExchange,
  type SendToClient,
  type UpstreamAnswer,
  type UpstreamExchange,
  UpstreamFailure,
  type UpstreamLimits,
  type UpstreamNotification,
} from '../upstream.ts';
import { LineReader } from './line-reader.ts';
import { readPaced } from './paced-pipe.ts';
import { findRefusedAnswers } from './refused-answers.ts';
import {
  closePipes,
  hasExited,
  type ServerProcess,
  signal,
  spawnServer,
  whyNotStarted,
} from './server-process.ts';
import { logStderr, STDERR_LINES } from './server-stderr.ts';
import type { StdioServer } from './servers-file.ts';
import type { StdioReceiver, StdioRequest, StdioWaiting } from './stdio-messages.ts';
import { MAX_USELESS, UselessLines } from './useless-lines.ts';

export interface StdioChannelOptions {
  name: string;
  server: StdioServer;
  limits: UpstreamLimits;
  /**
   * Waits for a place for one more process; what it returns gives the place back. Throws
   * UpstreamFailure.
   */
  takePlace(): Promise<() => void>;
  /** Counts the line that the process is writing. */
  openRoom(): AnswerBytes;
  log: Pick<Logger, 'info' | 'warn'>;
}

interface Waiting extends StdioWaiting {
  timer: NodeJS.Timeout | undefined;
  resolve(answer: UpstreamAnswer): void;
  reject(failure: UpstreamFailure): void;
}

/** The shortest time before a process that exited is started again. */
const RESTART_PAUSE_MS = 1000;
const KILL_AFTER_MS = 2000;
/** How long an answer is waited for that a process wrote before it exited or closed a pipe. */
const LAST_ANSWER_MS = 200;
/** Messages of maximum size that may wait for a process to read them. */
const MAX_UNREAD = 2;
/** As much as the rest of one that is too long counts, for each message of maximum size in it. */
const TOO_LONG = 10;
/** Requests that open a session are not cancelled (MCP, cancellation). */
const OPENING = new Set(['initialize', 'server/discover']);

export class StdioChannel {
  readonly limits: UpstreamLimits;
  /** The present session on it. */
  receiver: StdioReceiver | null = null;
  readonly #options: StdioChannelOptions;
  readonly #waiting = new Map<number, Waiting>();
  #child: ServerProcess | null = null;
  readonly #startOnce = shareRun(() => this.#start());
  #nextId = 1;
  #startedAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;
  readonly #useless = new UselessLines();
  /** When the process last sent a message. */
  #lastMessageAt = 0;
  #isPinged = false;
  #allowance = createAllowance();

  constructor(options: StdioChannelOptions) {
    this.#options = options;
    this.limits = options.limits;
  }

  get waiting(): Iterable<StdioWaiting> {
    return this.#waiting.values();
  }

  /** The number of requests in progress, without those that stay open for long. */
  get pending(): number {
    let pending = 0;
    for (const { timer } of this.#waiting.values()) if (timer !== undefined) pending++;
    return pending;
  }

  /** Starts the process if it does not run. Throws UpstreamFailure. */
  start(): Promise<void> {
    return this.#child === null ? this.#startOnce() : Promise.resolve();
  }

  /** Sends a request to the process, which must run. */
  send(request: StdioRequest, exchange: UpstreamExchange): Promise<UpstreamAnswer> {
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      const { method, wantsProgress, timeoutMs } = request;
      const giveUp = (kind: 'timeout' | 'cancelled', message: string) => {
        const entry = this.#take(id);
        if (entry === undefined) return;
        if (!OPENING.has(method)) this.write(cancelledText(id));
        entry.reject(new UpstreamFailure(kind, message));
      };
      const sentAt = performance.now();
      const expire = () => {
        giveUp('timeout', 'no answer in time');
        if (!OPENING.has(method)) void this.#endIfStuck(sentAt);
      };
      const timer = timeoutMs === null ? undefined : setTimeout(expire, timeoutMs);
      this.#waiting.set(id, { id, exchange, wantsProgress, timer, resolve, reject });
      if (this.#child === null) {
        this.#take(id)?.reject(new UpstreamFailure('unreachable', 'the process does not run'));
        return;
      }
      exchange.cancellation.onCancel = () => giveUp('cancelled', 'the client cancelled it');
      if (this.#waiting.has(id)) this.write(request.text(id));
    });
  }

  /** Writes a message without line breaks, as JSON.stringify makes it. */
  write(text: string): void {
    const stdin = this.#child?.stdin;
    if (stdin === undefined) return;
    if (stdin.writableLength > MAX_UNREAD * this.#options.limits.messageBytes) {
      // The backlog would grow with every request, answered or not.
      void this.stop('the process does not read what it is sent');
    } else stdin.write(`${text}\n`);
  }

  /** A request in progress. */
  find(id: unknown): StdioWaiting | undefined {
    return typeof id === 'number' ? this.#waiting.get(id) : undefined;
  }

  /** Ends a request as if the process had answered it. */
  finish(id: unknown, failure: UpstreamFailure): void {
    if (typeof id === 'number') this.#take(id)?.reject(failure);
  }

  /** Ends the process for good. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.stop('the session was closed');
  }

  /** Ends the process; the next `start` begins another. Never throws. */
  stop(why: string): Promise<void> {
    return this.#end(new UpstreamFailure('unreachable', why));
  }

  async #end(failure: UpstreamFailure): Promise<void> {
    const child = this.#child;
    this.#fail(failure);
    if (child === null || hasExited(child)) return;
    // It was never there, so that no exit follows.
    if (child.pid === undefined) return;
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.stdin.end();
    signal(child, 'SIGTERM');
    const timer = setTimeout(() => signal(child, 'SIGKILL'), KILL_AFTER_MS);
    await exited;
    clearTimeout(timer);
    // Its child processes, left behind.
    signal(child, 'SIGKILL');
    closePipes(child);
  }

  async #start(): Promise<void> {
    const sinceStart = performance.now() - this.#startedAt;
    if (sinceStart < RESTART_PAUSE_MS) {
      await new Promise((resolve) => setTimeout(resolve, RESTART_PAUSE_MS - sinceStart));
    }
    const leavePlace = await this.#options.takePlace();
    try {
      if (this.#isClosed) throw new UpstreamFailure('unreachable', 'the session was closed');
      this.#startedAt = performance.now();
      this.#useless.reset();
      this.#allowance = createAllowance();
      this.#child = this.#spawn();
    } catch (error) {
      leavePlace();
      throw error;
    }
    // Only what has started exits.
    if (this.#child.pid === undefined) leavePlace();
    else this.#child.once('exit', leavePlace);
  }

  #spawn(): ServerProcess {
    const { name, server, limits, log } = this.#options;
    const child = spawnServer(server);
    const room = this.#options.openRoom();
    const tooLong = `a message of more than ${limits.messageBytes} bytes`;
    const failWaiting = (failureOf: (exchange: UpstreamExchange) => UpstreamFailure) => {
      // It may be the answer to any of them.
      if (this.#child === child) this.#failWaiting(failureOf);
    };
    const sink = {
      onLine: (line: string) => this.#read(child, line),
      onNotUtf8: (line: string) => {
        if (this.#child === child) this.#refuse(line, malformed('it is not valid UTF-8'));
      },
      onTooLong: () => failWaiting(() => new UpstreamFailure('too_large', tooLong)),
      onNoRoom: () => failWaiting(noRoomFor),
      onDropped: () => {
        if (this.#child === child) this.#wasUseless(TOO_LONG);
      },
    };
    const lines = new LineReader(limits.messageBytes, sink, room);
    const exiting = new AbortController();
    logStderr(child, this.#options, exiting.signal);
    const ended = (failure: UpstreamFailure) => {
      if (this.#child !== child) return;
      log.info({ server: name, why: failure.message }, 'a stdio MCP server ended');
      signal(child, 'SIGKILL');
      closePipes(child);
      this.#fail(failure);
    };
    const take = (chunk: Buffer) => {
      if (this.#child === child) lines.push(chunk);
    };
    readPaced(child.stdout, take, exiting.signal, this.#allowance)
      .finally(() => room.release())
      .then(
        () => this.#closedPipe(child, 'output'),
        (error: unknown) => ended(new UpstreamFailure('malformed', String(error))),
      );
    // The close follows, and says enough.
    child.stdin.on('error', () => undefined);
    child.stdin.once('close', () => this.#closedPipe(child, 'input'));
    child.on('error', (error) => ended(whyNotStarted(error, server)));
    child.on('exit', (code, sign) => {
      exiting.abort();
      const end = () => ended(new ProcessExit(sign ?? `exit code ${code}`));
      // Its last answer may still lie in the pipe, which another process may hold open.
      const timer = setTimeout(end, LAST_ANSWER_MS);
      child.once('close', () => {
        clearTimeout(timer);
        end();
      });
    });
    return child;
  }

  /** Ends a process that lives on without a pipe: it would leave every request unanswered. */
  #closedPipe(child: ServerProcess, pipe: 'input' | 'output'): void {
    const end = () => {
      if (this.#child !== child || hasExited(child)) return;
      const { name: server, log } = this.#options;
      const failure = new ProcessExit(`it closed its ${pipe}`);
      log.info({ server, why: failure.message }, 'a stdio MCP server is ended');
      void this.#end(failure);
    };
    setTimeout(end, LAST_ANSWER_MS).unref();
  }

  #take(id: number): Waiting | undefined {
    const entry = this.#waiting.get(id);
    if (entry === undefined) return undefined;
    this.#waiting.delete(id);
    clearTimeout(entry.timer);
    entry.exchange.cancellation.onCancel = null;
    return entry;
  }

  #read(child: ServerProcess, line: string): void {
    if (this.#child !== child) return;
    if (line === '' || line.trim() === '') {
      this.#wasUseless();
      return;
    }
    let messages: UpstreamMessage[];
    try {
      messages = parseUpstreamMessages(line, this.limits.messageNodes);
    } catch (error) {
      this.#refuse(line, error instanceof UpstreamFailure ? error : malformed(String(error)));
      return;
    }
    const isAwaited = (message: UpstreamMessage) =>
      message.kind !== 'response' || this.find(message.id) !== undefined;
    this.#lastMessageAt = performance.now();
    if (messages.some(isAwaited)) this.#useless.reset();
    else this.#wasUseless();
    for (const message of messages) {
      if (message.kind === 'request') {
        this.receiver?.asked?.(message, this.#onlySend(), (text) => {
          if (this.#child === child) this.write(text);
        });
      } else if (message.kind === 'notification') {
        this.#notified(message);
      } else if (typeof message.id === 'number') {
        const awaited = this.#take(message.id);
        if (awaited === undefined) continue;
        this.#allowance.refill();
        // A message may answer several requests: each counts all of it.
        if (hasRoomFor(awaited.exchange, line.length)) awaited.resolve(message.answer);
        else awaited.reject(noRoom());
      } else if (typeof message.id === 'string') {
        this.finish(Number(message.id), malformed('its id is a text, where ours was a number'));
      }
    }
  }

  /**
   * Fails the calls that a refused line was meant to answer, as over HTTP: all, where it does not
   * say which. What is no answer fails none; some write a greeting or a log there, and one that
   * writes nothing else would fill ours.
   */
  #refuse(line: string, failure: UpstreamFailure): void {
    const { name, log } = this.#options;
    findRefusedAnswers(line, (id) => {
      this.#lastMessageAt = performance.now();
      if (id === undefined) this.#failWaiting(() => failure);
      else this.finish(id, failure);
    });
    this.#wasUseless();
    if (this.#useless.count <= STDERR_LINES) {
      log.warn({ server: name, why: failure.message }, 'a stdio MCP server wrote no JSON-RPC');
    }
  }

  #wasUseless(lines = 1): void {
    if (!this.#useless.add(lines)) return;
    void this.stop(
      `the process wrote ${MAX_USELESS} lines that are no JSON-RPC or nobody asked for`,
    );
  }

  /**
   * Asks a process that let a request expire, and sent nothing in the meantime, whether it is there
   * (MCP, ping). One that does not answer that in time either would leave every request unanswered.
   */
  async #endIfStuck(since: number): Promise<void> {
    const child = this.#child;
    if (child === null || this.#lastMessageAt > since || this.#isPinged) return;
    this.#isPinged = true;
    const ping = { method: 'ping', members: '', wantsProgress: false };
    const text = (id: number) => requestText(id, ping);
    const { timeoutMs } = this.limits;
    await this.send({ ...ping, text, timeoutMs }, ownExchange()).catch(() => undefined);
    this.#isPinged = false;
    if (this.#child === child && this.#lastMessageAt <= since) {
      void this.stop('the process answers nothing, not even a ping');
    }
  }

  /** Progress belongs to the request with its token. */
  #notified(notification: UpstreamNotification): void {
    if (notification.method !== 'notifications/progress') {
      this.receiver?.notified(notification);
      return;
    }
    const entry = this.find(notification.params?.progressToken);
    if (entry?.wantsProgress) entry.exchange.onNotification(notification);
  }

  /** Over stdio nothing says which call a question belongs to, unless there is only one. */
  #onlySend(): SendToClient | undefined {
    const [only, ...others] = this.#waiting.values();
    return others.length === 0 ? only?.exchange.send : undefined;
  }

  #failWaiting(failureOf: (exchange: UpstreamExchange) => UpstreamFailure): void {
    for (const { id, exchange } of [...this.#waiting.values()]) {
      this.#take(id)?.reject(failureOf(exchange));
    }
  }

  #fail(failure: UpstreamFailure): void {
    this.#child = null;
    this.receiver?.ended();
    this.#failWaiting(() => failure);
  }
}

function malformed(why: string): UpstreamFailure {
  return new UpstreamFailure('malformed', `the server's message was refused: ${why}`);
}
