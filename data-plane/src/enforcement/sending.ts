import type {
  Cancellation,
  SendToClient,
  UpstreamExchange,
  UpstreamNotification,
} from '../upstream/upstream.ts';
import type { Destination, Exchange, JudgedCall } from './calls.ts';
import { InspectedStream } from './inspected-stream.ts';
import type { Inspect, Inspected } from './said.ts';

export interface SendingDeps {
  inspect: Inspect;
  /** Why the call's agent may not act any more, if so. */
  findIneligibility(call: JudgedCall): string | undefined;
}

/** The client's end of a call, as the destination sees it: messages on the way are inspected. */
export class Sending implements UpstreamExchange {
  readonly cancellation: Cancellation;
  readonly send: SendToClient | undefined;
  readonly takesEveryResult: boolean;
  readonly logLevel: string | undefined;
  readonly wantsProgress: boolean;
  /** Set when the inspection of an earlier message threw: the answer fails with it. */
  failed: Inspected | undefined = undefined;
  /** Created when something is sent before the answer. */
  stream: InspectedStream | null = null;
  #isOver = false;
  readonly #call: JudgedCall;
  readonly #speaker: Destination['speaker'];
  readonly #client: Exchange;
  readonly #deps: SendingDeps;

  constructor(
    call: JudgedCall,
    speaker: Destination['speaker'],
    client: Exchange,
    deps: SendingDeps,
  ) {
    this.cancellation = client.cancellation;
    this.send = client.send;
    this.takesEveryResult = call.caller.era === 'modern';
    this.logLevel = client.logLevel;
    this.wantsProgress = client.wantsProgress;
    this.#call = call;
    this.#speaker = speaker;
    this.#client = client;
    this.#deps = deps;
  }

  onPaused(retryMs: number): void {
    this.#client.onPaused?.(retryMs);
  }

  findIneligibility(): string | undefined {
    return this.#deps.findIneligibility(this.#call);
  }

  /** The answer has arrived: later messages are dropped. */
  end(): void {
    this.#isOver = true;
  }

  onNotification(notification: UpstreamNotification): void {
    if (this.#isOver) return;
    this.stream ??= new InspectedStream({
      caller: this.#call.caller,
      speaker: this.#speaker,
      call: this.#call,
      inspect: this.#deps.inspect,
      passOn: (_serverId, heard) => this.#client.onNotification(heard),
      onFailed: (_serverId, inspected) => {
        this.failed = inspected;
      },
    });
    this.stream.push(this.#call.ask.serverId, notification);
  }
}
