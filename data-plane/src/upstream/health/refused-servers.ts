import type { McpServerSetting } from '@governance/shared/bundle/bundle-format';
import { type AddressPolicy, notAllowed } from '@governance/shared/outbound/address-policy';
import type { RulesProvider } from '../../contracts.ts';
import type { StdioAccess } from '../stdio/stdio-access.ts';
import type { ServerFinding } from './server-report.ts';

export interface RefusedServersDeps {
  rules: RulesProvider;
  stdio: Pick<StdioAccess, 'findRefusal'>;
  addresses: Pick<AddressPolicy, 'isHostAllowed'>;
}

/**
 * Builds the search for a tenant's servers that cannot be used here, whether or not anybody tried.
 */
export function createRefusedServers({ rules, stdio, addresses }: RefusedServersDeps) {
  function findRefusal(tenantId: string, server: McpServerSetting): string | undefined {
    const { transport, url, local_name } = server;
    if (transport === 'stdio') return stdio.findRefusal(tenantId, local_name ?? '');
    if (url === null || !URL.canParse(url)) return undefined;
    const { hostname } = new URL(url);
    return addresses.isHostAllowed(hostname) ? undefined : notAllowed(hostname);
  }

  return (tenantId: string): ServerFinding[] => {
    const servers = rules.findActiveRules(tenantId)?.settings.mcp_servers ?? {};
    return Object.values(servers).flatMap((server): ServerFinding[] => {
      const refusal = findRefusal(tenantId, server);
      return refusal === undefined ? [] : [[server.server_id, 'failing', refusal]];
    });
  };
}
