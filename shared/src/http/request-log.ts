import type { FastifyBaseLogger } from 'fastify';

type ChildOptions = Parameters<FastifyBaseLogger['child']>[1];

/** The log of one request, created on first use: most requests log nothing. */
export class RequestLog implements FastifyBaseLogger {
  readonly #parent: FastifyBaseLogger;
  readonly #bindings: object;
  readonly #options: ChildOptions;
  #made: FastifyBaseLogger | undefined;

  constructor(parent: FastifyBaseLogger, bindings: object, options: ChildOptions) {
    this.#parent = parent;
    this.#bindings = bindings;
    this.#options = options;
  }

  get #log(): FastifyBaseLogger {
    this.#made ??= this.#parent.child(this.#bindings, this.#options);
    return this.#made;
  }

  get level(): string {
    return this.#log.level;
  }

  set level(level: string) {
    this.#log.level = level;
  }

  fatal(...given: unknown[]): void {
    this.#write('fatal', given);
  }

  error(...given: unknown[]): void {
    this.#write('error', given);
  }

  warn(...given: unknown[]): void {
    this.#write('warn', given);
  }

  info(...given: unknown[]): void {
    this.#write('info', given);
  }

  debug(...given: unknown[]): void {
    this.#write('debug', given);
  }

  trace(...given: unknown[]): void {
    this.#write('trace', given);
  }

  silent(): void {}

  child(...given: Parameters<FastifyBaseLogger['child']>): FastifyBaseLogger {
    return this.#log.child(...given);
  }

  #write(level: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace', given: unknown[]): void {
    (this.#log[level] as (...all: unknown[]) => void)(...given);
  }
}
