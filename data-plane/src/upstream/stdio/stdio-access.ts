/**
 * Which tenant may use which server of SERVICE_MCP_SERVERS_FILE. A process has its operator's
 * secrets, so it is only for the tenants that its entry names. Checked at each use, since tenants
 * are added while the service runs. Proven by stdio-access.test.ts and stdio-tenants.test.ts.
 */
import type { Logger } from 'pino';
import { UpstreamFailure } from '../upstream.ts';
import { EVERY_TENANT, type StdioServer, type StdioServers } from './servers-file.ts';

export type StdioAccess = ReturnType<typeof createStdioAccess>;

const FILE = 'SERVICE_MCP_SERVERS_FILE';

/**
 * @param servesSeveral whether this data plane is for more than one tenant: then an entry that names
 *   none belongs to nobody
 */
export function createStdioAccess(
  servers: StdioServers,
  servesSeveral: () => boolean,
  log: Pick<Logger, 'warn'>,
) {
  const unowned = [...servers].filter(([, server]) => server.tenants === undefined);
  let isWarned = false;

  function isOpenTo(tenantId: string, { tenants }: StdioServer): boolean {
    if (tenants !== undefined) return tenants.includes(tenantId) || tenants.includes(EVERY_TENANT);
    if (!servesSeveral()) return true;
    if (!isWarned) {
      isWarned = true;
      const names = unowned.map(([name]) => name);
      const what = `entries of ${FILE} without tenants are refused: this data plane has several`;
      log.warn({ servers: names }, what);
    }
    return false;
  }

  const listNames = (tenantId: string) =>
    [...servers]
      .filter(([, server]) => isOpenTo(tenantId, server))
      .map(([name]) => name)
      .sort();

  function findRefusal(tenantId: string, name: string): string | undefined {
    const server = servers.get(name);
    if (server !== undefined && isOpenTo(tenantId, server)) return undefined;
    const names = listNames(tenantId);
    const open = names.length === 0 ? 'none' : names.join(', ');
    // The same answer for a name that another tenant has and for an unknown one.
    const hint = servesSeveral() ? ` An entry of ${FILE} must name its tenants.` : '';
    return `No stdio server named ${name} is available to this tenant. Available: ${open}.${hint}`;
  }

  return {
    /** The names that a tenant may register, in order. */
    listNames,
    /** Why a tenant may not use a name; undefined where it may. Names no other tenant's servers. */
    findRefusal,
    /** @throws UpstreamFailure `refused` where the tenant may not use it, or nobody has it */
    get(tenantId: string, name: string): StdioServer {
      const refusal = findRefusal(tenantId, name);
      const server = servers.get(name);
      if (refusal !== undefined || server === undefined) {
        throw new UpstreamFailure('refused', refusal ?? name);
      }
      return server;
    },
  };
}
