/**
 * An MCP session with a process of the operator's choosing, over its standard input and output.
 * One process serves one agent at one server: its memory is as far as agents may be mixed. It is
 * started with the first request, and again with the next request after it exited.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { Logger } from 'pino';
import {
  answerServer,
  type ClientInfo,
  cancelledText,
  initializeMembers,
  notificationText,
  parseInitializeAnswer,
  requestText,
} from './initialize.ts';
import { LineReader } from './line-reader.ts';
import { parseUpstreamMessages } from './message.ts';
import type { StdioServer } from './servers-file.ts';
import {
  Cancellation,
  requireStillWanted,
  type SendToClient,
  type SessionPeer,
  type UpstreamAnswer,
  type UpstreamExchange,
  UpstreamFailure,
  type UpstreamInfo,
  type UpstreamLimits,
  type UpstreamNotification,
  type UpstreamRequest,
  type UpstreamSession,
} from './upstream.ts';

export interface StdioSessionOptions {
  name: string;
  server: StdioServer;
  limits: UpstreamLimits;
  client: ClientInfo;
  /** The client for whom it is held, where servers may ask it something. */
  peer?: SessionPeer | undefined;
  /** Another process took the place of one that ended: what that was told is lost. */
  onReopened?: (() => void) | undefined;
  log: Pick<Logger, 'info' | 'warn'>;
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

interface Waiting {
  id: number;
  exchange: UpstreamExchange;
  wantsProgress: boolean;
  timer: NodeJS.Timeout;
  resolve(answer: UpstreamAnswer): void;
  reject(failure: UpstreamFailure): void;
}

/** A process that exits is not started again sooner. */
const RESTART_PAUSE_MS = 1000;
const KILL_AFTER_MS = 2000;
/** Lines of stderr that are logged a minute, and characters of each. */
const STDERR_LINES = 20;
const STDERR_CHARACTERS = 2000;

export class StdioUpstreamSession implements UpstreamSession {
  readonly #options: StdioSessionOptions;
  readonly #waiting = new Map<number, Waiting>();
  #child: Child | null = null;
  #info: UpstreamInfo | null = null;
  #opening: Promise<UpstreamInfo> | null = null;
  #nextId = 1;
  #startedAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;
  #wasOpen = false;
  #listener: ((notification: UpstreamNotification) => void) | null = null;

  constructor(options: StdioSessionOptions) {
    this.#options = options;
  }

  get pending(): number {
    return this.#waiting.size;
  }

  open(): Promise<UpstreamInfo> {
    if (this.#info !== null) return Promise.resolve(this.#info);
    this.#opening ??= this.#start().finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  async request(request: UpstreamRequest, exchange: UpstreamExchange): Promise<UpstreamAnswer> {
    requireStillWanted(exchange);
    if (this.#info === null) {
      await this.open();
      requireStillWanted(exchange);
    }
    return this.#send(request, exchange);
  }

  notify(method: string): void {
    if (this.#info !== null) this.#write(notificationText(method));
  }

  listen(listener: ((notification: UpstreamNotification) => void) | null): void {
    this.#listener = listener;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#listener = null;
    const child = this.#child;
    this.#fail(new UpstreamFailure('unreachable', 'the session was closed'));
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.stdin.end();
    signal(child, 'SIGTERM');
    const timer = setTimeout(() => signal(child, 'SIGKILL'), KILL_AFTER_MS);
    await exited;
    clearTimeout(timer);
    // What it started and left behind.
    signal(child, 'SIGKILL');
  }

  async #start(): Promise<UpstreamInfo> {
    const sinceStart = performance.now() - this.#startedAt;
    if (sinceStart < RESTART_PAUSE_MS) {
      await new Promise((resolve) => setTimeout(resolve, RESTART_PAUSE_MS - sinceStart));
    }
    if (this.#isClosed) throw new UpstreamFailure('unreachable', 'the session was closed');
    this.#startedAt = performance.now();
    this.#child = this.#spawn();
    const initialize = {
      method: 'initialize',
      members: initializeMembers(this.#options.client, this.#options.peer),
      wantsProgress: false,
    };
    const exchange = { onNotification: () => undefined, cancellation: new Cancellation() };
    const info = parseInitializeAnswer(await this.#send(initialize, exchange));
    this.#write(notificationText('notifications/initialized'));
    this.#info = info;
    if (this.#wasOpen) this.#options.onReopened?.();
    this.#wasOpen = true;
    return info;
  }

  #spawn(): Child {
    const { name, server, limits, log } = this.#options;
    const child = spawn(server.command, server.args, {
      cwd: server.cwd,
      // The service's own environment holds its secrets.
      env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...server.env },
      stdio: ['pipe', 'pipe', 'pipe'],
      // A process group of its own, so that what it started ends with it.
      detached: process.platform !== 'win32',
    });
    const lines = new LineReader(limits.messageBytes, {
      onLine: (line) => this.#read(child, line),
      onTooLong: () => {
        if (this.#child !== child) return;
        this.#failWaiting(
          new UpstreamFailure('too_large', `a message of more than ${limits.messageBytes} bytes`),
        );
      },
    });
    child.stdout.on('data', (chunk: Buffer) => lines.push(chunk));
    this.#logStderr(child, name);
    // Errors of the pipe come with the exit, which says the same.
    child.stdin.on('error', () => undefined);
    const ended = (why: string) => {
      if (this.#child !== child) return;
      log.info({ server: name, why }, 'a stdio MCP server ended');
      signal(child, 'SIGKILL');
      this.#fail(new UpstreamFailure('unreachable', `the process ended (${why})`));
    };
    child.on('error', (error) => ended(error.message));
    child.on('exit', (code, sign) => ended(sign ?? `exit code ${code}`));
    return child;
  }

  #logStderr(child: Child, name: string): void {
    let left = STDERR_LINES;
    const refill = setInterval(() => {
      left = STDERR_LINES;
    }, 60_000);
    refill.unref();
    child.once('close', () => clearInterval(refill));
    const lines = new LineReader(STDERR_CHARACTERS, {
      onLine: (line) => {
        if (left-- > 0) this.#options.log.info({ server: name, stderr: line }, 'MCP server says');
      },
      onTooLong: () => undefined,
    });
    child.stderr.on('data', (chunk: Buffer) => lines.push(chunk));
  }

  #send(request: UpstreamRequest, exchange: UpstreamExchange): Promise<UpstreamAnswer> {
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      const giveUp = (kind: 'timeout' | 'cancelled', message: string) => {
        const entry = this.#take(id);
        if (entry === undefined) return;
        if (request.method !== 'initialize') this.#write(cancelledText(id));
        entry.reject(new UpstreamFailure(kind, message));
      };
      const timer = setTimeout(
        () => giveUp('timeout', 'no answer in time'),
        this.#options.limits.timeoutMs,
      );
      const { wantsProgress } = request;
      this.#waiting.set(id, { id, exchange, wantsProgress, timer, resolve, reject });
      exchange.cancellation.onCancel = () => giveUp('cancelled', 'the client cancelled it');
      this.#write(requestText(id, request));
    });
  }

  #take(id: number): Waiting | undefined {
    const entry = this.#waiting.get(id);
    if (entry === undefined) return undefined;
    this.#waiting.delete(id);
    clearTimeout(entry.timer);
    entry.exchange.cancellation.onCancel = null;
    return entry;
  }

  #write(text: string): void {
    // JSON.stringify wrote it: there is no line break inside.
    this.#child?.stdin.write(`${text}\n`);
  }

  #read(child: Child, line: string): void {
    if (this.#child !== child || line.trim() === '') return;
    let messages: ReturnType<typeof parseUpstreamMessages>;
    try {
      messages = parseUpstreamMessages(line);
    } catch {
      this.#options.log.warn(
        { server: this.#options.name },
        'a stdio MCP server wrote no JSON-RPC',
      );
      return;
    }
    for (const message of messages) {
      if (message.kind === 'request') {
        answerServer(message, this.#options.peer, this.#onlySend(), (text) => {
          if (this.#child === child) this.#write(text);
        });
      } else if (message.kind === 'notification') {
        this.#notified(message);
      } else if (typeof message.id === 'number') {
        const { ok, raw, value } = message;
        this.#take(message.id)?.resolve({ kind: ok ? 'result' : 'error', raw, value });
      }
    }
  }

  /** Progress belongs to the request whose token it has; all else to whoever listens. */
  #notified(notification: UpstreamNotification): void {
    if (notification.method === 'notifications/progress') {
      const token = notification.params?.progressToken;
      const entry = typeof token === 'number' ? this.#waiting.get(token) : undefined;
      if (entry?.wantsProgress) entry.exchange.onNotification(notification);
      return;
    }
    if (notification.method === 'notifications/cancelled') {
      this.#options.peer?.withdraw(notification.params?.requestId);
    } else this.#listener?.(notification);
  }

  /** Over stdio nothing says to which call a request belongs, unless there is but one. */
  #onlySend(): SendToClient | undefined {
    const [only, ...others] = this.#waiting.values();
    return others.length === 0 ? only?.exchange.send : undefined;
  }

  #failWaiting(failure: UpstreamFailure): void {
    for (const id of [...this.#waiting.keys()]) this.#take(id)?.reject(failure);
  }

  #fail(failure: UpstreamFailure): void {
    this.#child = null;
    this.#info = null;
    this.#options.peer?.abandon();
    this.#failWaiting(failure);
  }
}

function signal(child: Child, name: 'SIGTERM' | 'SIGKILL'): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === 'win32') child.kill(name);
    else process.kill(-child.pid, name);
  } catch {
    // It has ended by itself.
  }
}
