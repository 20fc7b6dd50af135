/**
 * Which pages may reach the gateway (MCP, Streamable HTTP: servers must check Origin). Compared
 * with configured origins, never with the Host header: a page that rebinds its own name to this
 * address sends that name in both.
 */
export interface OriginPolicy {
  /** Whether a request with this Origin is served; a request without one comes from no page. */
  isAllowed(origin: string | undefined): boolean;
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/**
 * @param publicUrl the service's own address; on a loopback address its other names count as own
 * @param allowed SERVICE_CORS_ORIGINS_STR: origins, or `*`
 */
export function createOriginPolicy(publicUrl: string, allowed: readonly string[]): OriginPolicy {
  const { origin, protocol, hostname, port } = new URL(publicUrl);
  const origins = new Set([origin, ...allowed.map((text) => text.replace(/\/+$/, ''))]);
  if (LOOPBACK.includes(hostname)) {
    for (const name of LOOPBACK)
      origins.add(`${protocol}//${name}${port === '' ? '' : `:${port}`}`);
  }
  const everyone = origins.has('*');
  return {
    isAllowed: (text) => text === undefined || everyone || origins.has(text.toLowerCase()),
  };
}
