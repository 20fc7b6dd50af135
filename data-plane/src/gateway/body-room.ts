/**
 * What the bodies of requests take in memory, from their first byte until the request was answered.
 * It is bounded by agent and by tenant, over all of their connections: who sends many large bodies
 * and never ends them fills nobody's memory. A body counts as long as it says to be, before it is
 * there.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from './json-rpc.ts';

/** Bodies of the greatest size that one agent, and all agents of a tenant, may have under way. */
const OF_AGENT = 16;
const OF_TENANT = 64;

export interface BodyOwner {
  tenantId: string;
  agent: { id: string };
}

/** The room of one body. */
export interface BodyPlace {
  /** Tells how long the body turned out to be. */
  arrived(bytes: number): void;
  /** Gives the room back. */
  give(): void;
}

/**
 * Builds it.
 *
 * @param maxBody bytes of one body, at most
 */
export function createBodyRoom(maxBody: number) {
  const taken = new Map<string, number>();

  function add(key: string, bytes: number): void {
    const sum = (taken.get(key) ?? 0) + bytes;
    if (sum > 0) taken.set(key, sum);
    else taken.delete(key);
  }

  return {
    /**
     * Takes room for a body that is about to arrive.
     *
     * @param headers caller-controlled
     * @throws GatewayError 503 where there is none
     */
    take({ tenantId, agent }: BodyOwner, headers: IncomingHttpHeaders): BodyPlace {
      let bytes = sizeOf(headers, maxBody);
      const shares = [
        [`${tenantId} ${agent.id}`, OF_AGENT, 'this agent has'],
        [tenantId, OF_TENANT, 'the agents of this tenant have'],
      ] as const;
      for (const [key, bodies, who] of shares) {
        if (bytes > 0 && (taken.get(key) ?? 0) + bytes > bodies * maxBody) {
          const many = `Busy: ${who} too many bytes of requests under way.`;
          throw new GatewayError(503, `${many} Try again later.`);
        }
      }
      const change = (to: number) => {
        for (const [key] of shares) add(key, to - bytes);
        bytes = to;
      };
      for (const [key] of shares) add(key, bytes);
      return { arrived: change, give: () => change(0) };
    },
  };
}

/** As long as it may become, where it does not say. What says to be longer is refused as too large. */
function sizeOf(headers: IncomingHttpHeaders, maxBody: number): number {
  if (headers['transfer-encoding'] !== undefined) return maxBody;
  return Math.min(Number(headers['content-length'] ?? 0), maxBody);
}
