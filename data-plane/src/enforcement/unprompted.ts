/**
 * What servers say outside an answer. It is inspected as answers are; a failure is reported by
 * itself, since no outcome tells of it.
 */
import type { Logger } from 'pino';
import type { UpstreamNotification } from '../upstream/upstream.ts';
import type { Caller } from './calls.ts';
import { InspectedStream } from './inspected-stream.ts';
import type { Inspect } from './said.ts';

/** Passes on a server's message. */
export type Hear = (serverId: string, notification: UpstreamNotification) => void;

export interface Unprompted {
  /**
   * Inspects messages that servers send unprompted, on one stream of the caller's.
   *
   * @param passOn gets what the caller may hear
   * @returns takes what the servers say
   */
  listen(caller: Caller, passOn: Hear): Hear;
  /**
   * Inspects what a server says outside an answer: about itself, or as a question to the client.
   *
   * @returns null where nothing of it is passed on
   */
  introduce<T extends object>(caller: Caller, serverId: string, said: T): Promise<T | null>;
}

export interface UnpromptedDeps {
  log: Pick<Logger, 'error'>;
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
      const stream = new InspectedStream({
        caller,
        speaker: 'server',
        call: null,
        inspect,
        passOn,
        onFailed: (serverId, { blocked: why = '', error }) => failed(caller, serverId, why, error),
      });
      return (serverId, notification) => stream.push(serverId, notification);
    },
    async introduce<T extends object>(caller: Caller, serverId: string, value: T) {
      const part = { kind: 'result', raw: JSON.stringify(value), value } as const;
      const said = { speaker: 'server', caller, serverId, call: null, part, carry: '' } as const;
      const { blocked, error, ...inspected } = await inspect(said);
      if (error !== undefined) failed(caller, serverId, blocked ?? '', error);
      if (blocked !== undefined || inspected.part.kind === 'notification') return null;
      return inspected.part.value as T;
    },
  };
}
