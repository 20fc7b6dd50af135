/** The open `subscriptions/listen` streams, and how many an agent may have. */
import type { AgentKey, Caller } from '../../enforcement/call/calls.ts';
import { GatewayError } from '../json-rpc.ts';
import type { OpenPlaces } from '../open-places.ts';

interface OpenStream {
  caller: Caller;
  events: { end(): void };
}

/**
 * @param places for the streams of all agents; without a free one a stream is refused
 * @param maxPerAgent streams of one agent; a further one ends the oldest
 */
export function createOpenStreams<Stream extends OpenStream>(
  places: OpenPlaces,
  maxPerAgent: number,
) {
  /** The oldest first. */
  const streams = new Set<Stream>();
  const byAgent = new Map<AgentKey, Set<Stream>>();

  function makeRoom(key: AgentKey): void {
    const own = byAgent.get(key);
    if (own === undefined || own.size < maxPerAgent) return;
    const [oldest] = own;
    oldest?.events.end();
  }

  return {
    all: (): Stream[] => [...streams],

    /** An agent that has all its streams ends one for another. @throws GatewayError 503 */
    requireRoom: ({ key, tenantId }: Caller): void => {
      if ((byAgent.get(key)?.size ?? 0) >= maxPerAgent || places.hasRoom(tenantId)) return;
      throw new GatewayError(503, 'Too many streams are open: try again later.');
    },

    add: (stream: Stream): void => {
      const { key, tenantId } = stream.caller;
      makeRoom(key);
      streams.add(stream);
      byAgent.set(key, (byAgent.get(key) ?? new Set()).add(stream));
      places.take(tenantId);
    },

    remove: (stream: Stream): void => {
      const { key, tenantId } = stream.caller;
      if (streams.delete(stream)) places.leave(tenantId);
      const own = byAgent.get(key);
      own?.delete(stream);
      if (own?.size === 0) byAgent.delete(key);
    },
  };
}
