/**
 * Which pages may reach the gateway (MCP, Streamable HTTP: servers must check Origin). Compared
 * with configured origins, never with the Host header: a page that rebinds its own name to this
 * address sends that name in both.
 */
import { ownAddresses } from '@governance/shared/own-addresses';

export interface OriginPolicy {
  /** Whether a request with this Origin is served; a request without one comes from no page. */
  isAllowed(origin: string | undefined): boolean;
}

/**
 * @param publicUrl the service's own address; on a loopback address its other names count as own
 * @param allowed SERVICE_CORS_ORIGINS_STR: origins, or `*`
 */
export function createOriginPolicy(publicUrl: string, allowed: readonly string[]): OriginPolicy {
  const origins = new Set([
    ...ownAddresses(publicUrl).map((address) => new URL(address).origin),
    ...allowed.map((text) => text.replace(/\/+$/, '')),
  ]);
  const everyone = origins.has('*');
  return {
    isAllowed: (text) => text === undefined || everyone || origins.has(text.toLowerCase()),
  };
}
