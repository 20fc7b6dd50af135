/**
 * Tools whose definition has changed, and their approval. What a tool is pinned to goes into the
 * bundle, so that all data planes of the tenant agree; the answer comes when it is in force.
 */
import { AppError } from '@governance/shared/errors';
import type { InboundSettings } from '@governance/shared/inbound-settings';
import { readServerIds } from '../mcp-servers/mcp-server-service.ts';
import type { TenantScope, TenantTransaction } from '../platform/tenant-scope.ts';
import type { InboundDeps } from './inbound-rule-service.ts';
import { type PinnedTool, pinnedToolStore } from './pinned-tool-store.ts';

export type PinnedToolService = ReturnType<typeof createPinnedToolService>;

export function createPinnedToolService({ db, bundles, applied, now }: InboundDeps) {
  return {
    list: (scope: TenantScope, serverId: string): Promise<PinnedTool[]> =>
      db.inTenant(scope, async (tx) => {
        if (!(await readServerIds(tx)).includes(serverId))
          throw new AppError('MCP_SERVER_NOT_FOUND');
        return pinnedToolStore(tx).listOf(serverId);
      }),

    /**
     * @param hash what the administrator has looked at; whatever was seen last unless given
     * @throws AppError TOOL_NOT_FOUND, TOOL_NOT_WAITING
     */
    approve: async (
      scope: TenantScope,
      {
        serverId,
        toolName,
        hash,
      }: { serverId: string; toolName: string; hash?: string | undefined },
    ): Promise<PinnedTool> => {
      const approved = await db.inTenant(scope, async (tx) => {
        const store = pinnedToolStore(tx);
        const tool = await store.findForUpdate(serverId, toolName);
        if (tool === undefined) throw new AppError('TOOL_NOT_FOUND');
        if (tool.seenHash === tool.pinnedHash) throw new AppError('TOOL_NOT_WAITING');
        if (hash !== undefined && hash !== tool.seenHash) {
          throw new AppError('TOOL_NOT_WAITING', 'The tool has changed again: look at it anew.');
        }
        tx.audit.append({
          action: 'tool_definition_approved',
          target: `mcp_server/${serverId}/tool/${toolName}`,
          details: { before: tool.pinnedHash, approved: tool.seenHash },
        });
        return store.approve(tool, scope.actor.username, now());
      });
      const { revision } = await bundles.requestBuild(scope.tenantId);
      await applied.wait(scope.tenantId, { bundleRevision: revision });
      return approved;
    },
  };
}

type Pins = NonNullable<InboundSettings['pinned_tools']>['pins'];

/** What tools are pinned to, for the bundle: of those that have ever changed. */
export async function readPins(tx: TenantTransaction): Promise<Pins> {
  const tools = await pinnedToolStore(tx).listAll();
  return tools.map(({ serverId, toolName, pinnedHash }) => ({
    server_id: serverId,
    tool_name: toolName,
    hash: pinnedHash,
  }));
}
