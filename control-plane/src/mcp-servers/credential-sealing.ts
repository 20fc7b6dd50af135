/** Sends credentials of MCP servers to data planes: in the feed, sealed for each data plane. */
import {
  SealedUpstreamCredential,
  type UpstreamCredential,
} from '@governance/shared/mcp/upstream-credential';
import { sealFor } from '../data-planes/sealed-facts.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import type { SealingTarget } from '../platform/feature.ts';
import type { McpServer } from './mcp-server.ts';

/** Appends a server's credential for each of these data planes to the feed. */
export async function appendCredential(
  tx: TenantTransaction,
  { serverId, url }: McpServer,
  credential: UpstreamCredential,
  targets: SealingTarget[],
): Promise<void> {
  for (const { deploymentId, sealingKey } of targets) {
    const key = `${deploymentId}/${serverId}`;
    const names = { server_id: serverId, deployment_id: deploymentId };
    const origin = url === null ? undefined : new URL(url).origin;
    const content = { ...names, tenant_id: tx.scope.tenantId, origin, credential };
    const plaintext = JSON.stringify(SealedUpstreamCredential.parse(content));
    const value = { ...names, jwe: await sealFor(sealingKey, plaintext) };
    tx.feed.append({ kind: 'upstream_credential', key, value });
  }
}

/** Takes a server's credential from each of these data planes. */
export function removeCredential(
  tx: TenantTransaction,
  serverId: string,
  deploymentIds: readonly string[],
): void {
  for (const deploymentId of deploymentIds) {
    const key = `${deploymentId}/${serverId}`;
    tx.feed.append({ kind: 'upstream_credential', key, value: null });
  }
}
