/**
 * What a session wants to receive from a modern server unprompted: one `subscriptions/listen`
 * stream for everything. It is reopened when the wishes change, the new one before the old one
 * ends, and with a pause when the server ended it.
 */
import {
  Cancellation,
  EMPTY_RESULT,
  errorAnswer,
  type UpstreamAnswer,
  type UpstreamExchange,
  UpstreamFailure,
  type UpstreamNotification,
} from '../upstream.ts';
import { SUBSCRIPTION_ID } from './envelope.ts';

export interface SubscriptionsDeps {
  /** Sends `subscriptions/listen`; settles when the stream has ended. */
  open(members: string, exchange: UpstreamExchange): Promise<UpstreamAnswer>;
  onNotification(notification: UpstreamNotification): void;
  /** Milliseconds until the server must have acknowledged a stream. */
  timeoutMs: number;
}

interface Stream {
  filter: string;
  readonly uris: readonly string[];
  readonly cancellation: Cancellation;
  readonly timer: NodeJS.Timeout;
  readonly openedAt: number;
  acknowledged: ReadonlySet<string> | null;
}

type Settle = (answer: UpstreamAnswer | UpstreamFailure) => void;

/** The notifications of such a stream, each with the capability that promises it. */
const LIST_CHANGES = {
  tools: ['toolsListChanged', 'notifications/tools/list_changed'],
  prompts: ['promptsListChanged', 'notifications/prompts/list_changed'],
  resources: ['resourcesListChanged', 'notifications/resources/list_changed'],
} as const;
const CHANGES: ReadonlySet<string> = new Set([
  ...Object.values(LIST_CHANGES).map(([, method]) => method),
  'notifications/resources/updated',
]);

const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';
const MAX_ACKNOWLEDGE_MS = 10_000;
/** Changes within this time are requested together. */
const GATHER_MS = 10;
const MIN_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 30_000;
const MAX_URIS = 1000;

export class Subscriptions {
  readonly #deps: SubscriptionsDeps;
  readonly #uris = new Set<string>();
  readonly #waiting = new Map<string, Settle[]>();
  #isListening = false;
  /** Null while the session is not open. */
  #capabilities: Record<string, unknown> | null = null;
  #current: Stream | null = null;
  #next: Stream | null = null;
  /** What the server does not offer: requested again when the wishes change. */
  #refused: string | null = null;
  #pauseMs = MIN_PAUSE_MS;
  #timer: NodeJS.Timeout | undefined;
  #soon: NodeJS.Timeout | undefined;

  constructor(deps: SubscriptionsDeps) {
    this.#deps = deps;
  }

  listen(isListening: boolean): void {
    this.#isListening = isListening;
    this.#update();
  }

  /** The session is open: the wishes are requested. */
  resume(capabilities: Record<string, unknown>): void {
    this.#capabilities = capabilities;
    this.#refused = null;
    this.#update();
  }

  /** The session is closed, and its streams have ended. */
  suspend(): void {
    this.#capabilities = null;
    const failure = new UpstreamFailure('unreachable', 'the session was closed');
    for (const uri of [...this.#waiting.keys()]) this.#settleOne(uri, failure);
    this.#endAll();
  }

  /** Subscribes to a resource. Throws UpstreamFailure where the server does not offer that. */
  async add(uri: string): Promise<UpstreamAnswer> {
    if (this.#next === null && this.#current?.acknowledged?.has(uri)) return EMPTY_RESULT;
    if (!this.#uris.has(uri) && this.#uris.size >= MAX_URIS) {
      return errorAnswer(-32602, `More than ${MAX_URIS} resources are subscribed to.`);
    }
    this.#uris.add(uri);
    const outcome = await new Promise<UpstreamAnswer | UpstreamFailure>((resolve) => {
      this.#waiting.set(uri, [...(this.#waiting.get(uri) ?? []), resolve]);
      this.#refused = null;
      this.#updateSoon();
    });
    if (outcome instanceof UpstreamFailure) throw outcome;
    return outcome;
  }

  remove(uri: string): void {
    this.#settleOne(uri, new UpstreamFailure('cancelled', 'the subscription was ended'));
    if (this.#uris.delete(uri)) this.#updateSoon();
  }

  /** The wishes as the members of the request; null for none. */
  #filter(
    capabilities: Record<string, unknown>,
    uris: ReadonlySet<string> = this.#uris,
  ): string | null {
    const wanted: Record<string, unknown> = {};
    if (this.#isListening) {
      for (const [capability, [member]] of Object.entries(LIST_CHANGES)) {
        const declared = capabilities[capability] as { listChanged?: unknown } | undefined;
        if (declared?.listChanged === true) wanted[member] = true;
      }
    }
    if (uris.size > 0) wanted.resourceSubscriptions = [...uris];
    return Object.keys(wanted).length > 0 ? `"notifications":${JSON.stringify(wanted)}` : null;
  }

  /** A client subscribes to many resources one by one: they become one stream, not one each. */
  #updateSoon(): void {
    this.#soon ??= setTimeout(() => this.#update(), GATHER_MS);
  }

  #update(): void {
    clearTimeout(this.#soon);
    this.#soon = undefined;
    if (this.#capabilities === null) return;
    const filter = this.#filter(this.#capabilities);
    if (filter === null) {
      this.#endAll();
      return;
    }
    if ((this.#next ?? this.#current)?.filter === filter || this.#refused === filter) return;
    clearTimeout(this.#timer);
    const superseded = this.#next;
    this.#next = this.#open(filter);
    superseded?.cancellation.cancel();
  }

  #open(filter: string): Stream {
    const cancellation = new Cancellation();
    const { open, timeoutMs } = this.#deps;
    const stream: Stream = {
      filter,
      uris: [...this.#uris],
      cancellation,
      openedAt: performance.now(),
      acknowledged: null,
      timer: setTimeout(
        () => {
          this.#ended(stream, new UpstreamFailure('timeout', 'the stream was not acknowledged'));
          cancellation.cancel();
        },
        Math.min(timeoutMs, MAX_ACKNOWLEDGE_MS),
      ),
    };
    const onNotification = (notification: UpstreamNotification) =>
      this.#receive(stream, notification);
    open(filter, { cancellation, onNotification }).then(
      (answer) => this.#ended(stream, answer),
      (failure) => this.#ended(stream, failure),
    );
    return stream;
  }

  #receive(stream: Stream, { method, params }: UpstreamNotification): void {
    if (method === ACKNOWLEDGED) this.#acknowledged(stream, params?.notifications);
    else if (stream === this.#current && CHANGES.has(method)) {
      this.#deps.onNotification({ method, params: withoutSubscription(params) });
    }
  }

  #acknowledged(stream: Stream, granted: unknown): void {
    if (stream !== this.#next) return;
    clearTimeout(stream.timer);
    const filter = (granted ?? {}) as Record<string, unknown>;
    const uris = filter.resourceSubscriptions;
    const named = new Set<unknown>(Array.isArray(uris) ? uris : []);
    const acknowledged = new Set(stream.uris.filter((uri) => named.has(uri)));
    stream.acknowledged = acknowledged;
    const isNothing = !Object.values(filter).some((part) =>
      Array.isArray(part) ? part.length > 0 : part === true,
    );
    const before = this.#current;
    this.#current = stream;
    this.#next = null;
    before?.cancellation.cancel();
    this.#settle(stream, (uri) =>
      acknowledged.has(uri)
        ? EMPTY_RESULT
        : errorAnswer(-32602, `The server tells nothing of ${uri.slice(0, 200)}.`),
    );
    // Without what it does not offer, the request would be unchanged.
    for (const uri of stream.uris) if (!acknowledged.has(uri)) this.#uris.delete(uri);
    // Checked against the stream's own resources: more may be wanted by now.
    if (this.#capabilities !== null) {
      stream.filter = this.#filter(this.#capabilities, acknowledged) ?? '';
    }
    if (isNothing) this.#refused = stream.filter;
    this.#update();
  }

  #ended(stream: Stream, outcome: UpstreamAnswer | UpstreamFailure): void {
    clearTimeout(stream.timer);
    if (stream !== this.#current && stream !== this.#next) return;
    if (stream === this.#current) this.#current = null;
    else this.#next = null;
    if (stream.acknowledged === null) this.#unacknowledged(stream, outcome);
    if (this.#next !== null || this.#capabilities === null) return;
    if (performance.now() - stream.openedAt > MAX_PAUSE_MS) this.#pauseMs = MIN_PAUSE_MS;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#update(), this.#pauseMs);
    this.#timer.unref();
    this.#pauseMs = Math.min(this.#pauseMs * 2, MAX_PAUSE_MS);
  }

  #unacknowledged(stream: Stream, outcome: UpstreamAnswer | UpstreamFailure): void {
    if (outcome instanceof UpstreamFailure) {
      this.#settle(stream, () => outcome);
      return;
    }
    const { code, message: reason } = outcome.value as { code?: unknown; message?: string };
    // As parsed: an escape in the raw JSON could hide words from the inspection of this answer.
    const answer = outcome.kind === 'error' ? reason?.slice(0, 200) : 'nothing';
    const message = `The server opens no stream of subscriptions: ${answer}`;
    this.#settle(stream, () => errorAnswer(-32602, message));
    if (code === -32601) this.#refused = this.#filter(this.#capabilities ?? {});
  }

  /** Settles the subscriptions that a stream was opened for. Refused ones are dropped. */
  #settle(stream: Stream, outcomeOf: (uri: string) => UpstreamAnswer | UpstreamFailure): void {
    for (const uri of stream.uris) {
      if (this.#waiting.has(uri)) this.#settleOne(uri, outcomeOf(uri));
    }
  }

  #settleOne(uri: string, outcome: UpstreamAnswer | UpstreamFailure): void {
    const waiting = this.#waiting.get(uri);
    if (waiting === undefined) return;
    this.#waiting.delete(uri);
    if (outcome !== EMPTY_RESULT) this.#uris.delete(uri);
    for (const settle of waiting) settle(outcome);
  }

  #endAll(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#soon);
    this.#soon = undefined;
    const ending = [this.#current, this.#next];
    this.#current = null;
    this.#next = null;
    for (const stream of ending) {
      clearTimeout(stream?.timer);
      stream?.cancellation.cancel();
    }
  }
}

function withoutSubscription(
  params: Record<string, unknown> | undefined,
): Record<string, unknown> | undefined {
  const { _meta, ...rest } = params ?? {};
  if (typeof _meta !== 'object' || _meta === null) return params;
  const { [SUBSCRIPTION_ID]: _id, ...meta } = _meta as Record<string, unknown>;
  if (Object.keys(meta).length > 0) return { ...rest, _meta: meta };
  return Object.keys(rest).length > 0 ? rest : undefined;
}
