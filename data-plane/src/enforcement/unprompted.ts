/**
 * What servers send outside an answer. It is inspected like answers. A failed inspection is
 * reported on its own, since no outcome records it.
 */
import type { Logger } from 'pino';
import { AnswerBytes } from '../upstream/shares/answer-room.ts';
import type { FairBytes } from '../upstream/shares/fair-bytes.ts';
import type { UpstreamNotification } from '../upstream/upstream.ts';
import type { Caller } from './call/calls.ts';
import type { Inspect } from './call/received-message.ts';
import { InspectedStream } from './inspected-stream.ts';

/** Passes on a server's message. */
export type Receive = (serverId: string, notification: UpstreamNotification) => void;

export interface Listening {
  /** To be called with each message of the servers. */
  receive: Receive;
  /** Nothing more is passed on. */
  end(): void;
}

export interface Unprompted {
  /**
   * Inspects messages that servers send unprompted, on one stream of the caller's.
   *
   * @param passOn called with each message that the caller may get
   */
  listen(caller: Caller, passOn: Receive): Listening;
  /**
   * Inspects a value of a server outside an answer: what it says of itself, or a question to the
   * client.
   *
   * @returns the inspected value; null where it is blocked
   */
  introduce<T extends object>(
    caller: Caller,
    serverId: string,
    introduction: T,
    kind: 'introduction' | 'question',
  ): Promise<T | null>;
}

export interface UnpromptedDeps {
  /** For what servers send, until it was inspected. */
  room: FairBytes;
  log: Pick<Logger, 'error' | 'warn'>;
  /** Called when a message that a server sent unprompted could not be inspected. */
  onInspectionFailed(tenantId: string, serverId: string, why: string): void;
}

export function createUnprompted(inspect: Inspect, deps: UnpromptedDeps): Unprompted {
  function failed(caller: Caller, serverId: string, why: string, error: unknown): void {
    deps.log.error({ err: error, server: serverId, why }, 'an inspection threw');
    deps.onInspectionFailed(caller.tenantId, serverId, why);
  }

  return {
    listen(caller, passOn) {
      const held = new AnswerBytes(deps.room, caller);
      const stream = new InspectedStream({
        caller,
        speaker: 'server',
        call: null,
        inspect,
        // Each message gives back its own room, also after the end: some are being inspected then.
        hold: (bytes) => held.hold(bytes),
        passOn,
        onFailed: (serverId, { blocked: why = '', error }) => failed(caller, serverId, why, error),
        onDropped: (server) =>
          deps.log.warn({ server }, 'too many unprompted notifications: some were dropped'),
      });
      return {
        receive: (serverId, notification) => stream.push(serverId, notification),
        end: () => stream.end(),
      };
    },
    async introduce(caller, serverId, value, kind) {
      const part = { kind: 'result', raw: JSON.stringify(value), value } as const;
      const received = {
        speaker: 'server',
        caller,
        serverId,
        call: null,
        isIntroduction: kind === 'introduction',
        part,
        carry: '',
      } as const;
      const { blocked, error, ...inspected } = await inspect(received);
      if (error !== undefined) failed(caller, serverId, blocked ?? '', error);
      if (blocked !== undefined || inspected.part.kind === 'notification') return null;
      return inspected.part.value as typeof value;
    },
  };
}
