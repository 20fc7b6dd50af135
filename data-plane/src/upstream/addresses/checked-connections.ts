/**
 * Connections with MCP servers over HTTP. Each is checked when it is made. When the address policy
 * changes (a data plane gets a second tenant), no earlier connection is used again.
 */

import type { AddressPolicy } from '@governance/shared/outbound/address-policy';
import { Agent, type Dispatcher } from 'undici';

/**
 * Where a server does not say how long a connection may be idle. Many end it after five seconds, and
 * a call that is on its way then is lost: nobody knows whether it was read, so it is not repeated
 * (checked-connections.test.ts).
 */
const IDLE_MS = 4_000;

/**
 * fair-shares.ts bounds the number of connections: nothing waits here, uncounted.
 *
 * @param endMs how long earlier requests may continue
 */
export function createCheckedConnections(
  addresses: Pick<AddressPolicy, 'lookup' | 'isPrivateOpen'>,
  endMs: number,
) {
  const ending = new Map<Dispatcher, NodeJS.Timeout>();
  let wasOpen = addresses.isPrivateOpen();
  let current = open();

  function open(): Dispatcher {
    return new Agent({
      pipelining: 1,
      keepAliveTimeout: IDLE_MS,
      connect: { timeout: 10_000, lookup: addresses.lookup },
    });
  }

  /** Ends connections made under another policy, even without a new request. */
  function check(): void {
    if (addresses.isPrivateOpen() === wasOpen) return;
    wasOpen = !wasOpen;
    const before = current;
    current = open();
    const forget = () => {
      clearTimeout(ending.get(before));
      ending.delete(before);
    };
    ending.set(before, setTimeout(() => void before.destroy(), endMs).unref());
    before.close().then(forget, forget);
  }

  return {
    check,
    dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
      check();
      return current.dispatch(options, handler);
    },
    async destroy(): Promise<void> {
      for (const timer of ending.values()) clearTimeout(timer);
      await Promise.all([current, ...ending.keys()].map((one) => one.destroy()));
    },
  };
}
