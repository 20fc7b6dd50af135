/**
 * Memory for request bodies, reserved from their first byte until the request is answered. It is
 * bounded by agent and by tenant, over all of their connections: a client that sends many large
 * bodies and never finishes them cannot fill the memory. A body counts with its declared length
 * before it arrives.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from './json-rpc.ts';

/** Bodies of maximum size that one agent, and all agents of a tenant, may have in progress. */
const OF_AGENT = 16;
const OF_TENANT = 64;

/** The reservation of one body. */
export interface BodyPlace {
  /** Corrects the reservation to the body's actual length. */
  arrived(bytes: number): void;
  /** Releases the memory. */
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

  function requireRoom(key: string, bytes: number, bodies: number, who: string): void {
    if (!(bytes > 0) || (taken.get(key) ?? 0) + bytes <= bodies * maxBody) return;
    const many = `Busy: ${who} too many bytes of requests under way.`;
    throw new GatewayError(503, `${many} Try again later.`);
  }

  return {
    /**
     * Reserves memory for a body that is about to arrive.
     *
     * @param headers caller-controlled
     * @throws GatewayError 503 where there is none
     */
    take(
      { tenantId, agent }: { tenantId: string; agent: { id: string } },
      headers: IncomingHttpHeaders,
    ): BodyPlace {
      let bytes = sizeOf(headers, maxBody);
      const agentKey = `${tenantId} ${agent.id}`;
      requireRoom(agentKey, bytes, OF_AGENT, 'this agent has');
      requireRoom(tenantId, bytes, OF_TENANT, 'the agents of this tenant have');
      add(agentKey, bytes);
      add(tenantId, bytes);
      const change = (to: number) => {
        if (to === bytes) return;
        add(agentKey, to - bytes);
        add(tenantId, to - bytes);
        bytes = to;
      };
      return { arrived: change, give: () => change(0) };
    },
  };
}

/** Without a declared length, the maximum. A longer declaration is refused as too large. */
function sizeOf(headers: IncomingHttpHeaders, maxBody: number): number {
  if (headers['transfer-encoding'] !== undefined) return maxBody;
  return Math.min(Number(headers['content-length'] ?? 0), maxBody);
}
