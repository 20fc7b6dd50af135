/**
 * Subscriptions at servers' sessions, each shared by all streams that hold it. Each stream joins by a
 * judged read of its own, and the last one to leave unsubscribes.
 */
import type { Answer } from '../../enforcement/call/answer.ts';
import type { Caller } from '../../enforcement/call/calls.ts';
import type { RoutedRead, Router } from '../router.ts';
import type { ConcurrencyLimit } from './concurrency-limit.ts';

interface Shared {
  /** How many streams hold it. */
  holders: number;
  /** Whether the server has it. */
  isSubscribed: boolean;
}

/** @param call has a read judged and sent */
export function createSharedSubscriptions(
  router: Pick<Router, 'toRead'>,
  call: (caller: Caller, read: RoutedRead) => Promise<Answer>,
) {
  const shared = new Map<string, Shared>();
  /** Unsubscriptions in progress: the next subscription to the same resource waits for them. */
  const leaving = new Map<string, Promise<unknown>>();

  return {
    /** Subscribes for a stream. False: it was refused; the stream has to leave all the same. */
    async join(caller: Caller, read: RoutedRead): Promise<boolean> {
      const key = sharedKey(caller, read);
      const one = shared.get(key) ?? { holders: 0, isSubscribed: false };
      one.holders++;
      shared.set(key, one);
      await leaving.get(key);
      const answer = await call(caller, read);
      if (answer.kind === 'result') one.isSubscribed = true;
      return answer.kind === 'result';
    },

    /** @param ending limits how many a stream unsubscribes from at a time */
    leave(caller: Caller, read: RoutedRead, ending: ConcurrencyLimit): void {
      const key = sharedKey(caller, read);
      const one = shared.get(key);
      if (one === undefined || --one.holders > 0) return;
      shared.delete(key);
      if (!one.isSubscribed) return;
      const { serverId, args } = read.ask;
      const back = router.toRead('resources/unsubscribe', serverId, args);
      const left = ending(() => call(caller, back)).finally(() => {
        if (leaving.get(key) === left) leaving.delete(key);
      });
      leaving.set(key, left);
    },
  };
}

function sharedKey({ key, peer }: Caller, { ask }: RoutedRead): string {
  return JSON.stringify([key, peer?.id ?? null, ask.serverId, ask.args.uri]);
}
