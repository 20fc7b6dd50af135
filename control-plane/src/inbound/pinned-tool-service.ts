/**
 * Tools that data planes have pinned, and the approval of changed definitions. The pin of a tool
 * that ever changed goes into the bundle, so that all data planes of the tenant agree. An approval
 * is answered once it is enforced.
 */
import { AppError } from '@governance/shared/errors';
import type { InboundSettings } from '@governance/shared/settings/inbound-settings';
import { readServerIds } from '../mcp-servers/mcp-server-service.ts';
import type { Page } from '../platform/database/page.ts';
import type { TenantScope, TenantTransaction } from '../platform/database/tenant-scope.ts';
import type { InboundDeps } from './inbound-rule-service.ts';
import { type PinnedTool, pinnedToolStore } from './pinned-tool-store.ts';

export type PinnedToolService = ReturnType<typeof createPinnedToolService>;

export function createPinnedToolService({ db, bundles, applied, now }: InboundDeps) {
  return {
    list: (scope: TenantScope, serverId: string, page: Page) =>
      db.inTenant(scope, async (tx) => {
        if (!(await readServerIds(tx)).includes(serverId))
          throw new AppError('MCP_SERVER_NOT_FOUND');
        return pinnedToolStore(tx).listOf(serverId, page);
      }),

    /** @throws AppError TOOL_NOT_FOUND, TOOL_NOT_WAITING, TOOL_APPROVAL_LIMIT_REACHED */
    approve: async (scope: TenantScope, asked: AskedApproval): Promise<PinnedTool> => {
      const { serverId, toolName, hash, mayVary } = asked;
      const approved = await db.inTenant(scope, async (tx) => {
        const store = pinnedToolStore(tx);
        const tool = await store.findForUpdate(serverId, toolName);
        if (tool === undefined) throw new AppError('TOOL_NOT_FOUND');
        const isWaiting = tool.seenHash !== tool.pinnedHash || isVarying(tool, now());
        if (!isWaiting && tool.mayVary === mayVary) throw new AppError('TOOL_NOT_WAITING');
        if (hash !== undefined && hash !== tool.seenHash) {
          throw new AppError('TOOL_NOT_WAITING', 'The tool has changed again: review it again.');
        }
        if (!(await store.hasRoomFor(tool))) throw new AppError('TOOL_APPROVAL_LIMIT_REACHED');
        tx.audit.append({
          action: 'tool_definition_approved',
          target: `mcp_server/${serverId}/tool/${toolName}`,
          details: { before: tool.pinnedHash, approved: tool.seenHash, may_vary: mayVary },
        });
        return store.approve(tool, {
          mayVary,
          approvedBy: scope.actor.username,
          approvedAt: laterThan(tool.approvedAt, now()),
        });
      });
      const { revision } = await bundles.requestBuild(scope.tenantId);
      await applied.wait(scope.tenantId, { bundleRevision: revision });
      return approved;
    },
  };
}

/** Approvals of a tool have ascending times, whatever the clock does: data planes follow the last. */
function laterThan(last: Date | null, now: Date): Date {
  return last === null || last < now ? now : new Date(last.getTime() + 1);
}

const VARIES_MS = 24 * 60 * 60_000;

/**
 * Whether a tool has changed so often that it waits, whatever its definition is: until that has
 * stayed the same for a day, or is approved.
 */
export function isVarying({ varies, seenAt }: PinnedTool, now: Date): boolean {
  return varies && now.getTime() - seenAt.getTime() < VARIES_MS;
}

export interface AskedApproval {
  serverId: string;
  toolName: string;
  /** The reviewed hash; the definition seen last unless given. */
  hash: string | undefined;
  /** Whether all later definitions are approved too. */
  mayVary: boolean;
}

type Pins = NonNullable<InboundSettings['pinned_tools']>['pins'];

/** The pins for the bundle: of tools that ever changed or were approved. */
export async function readPins(tx: TenantTransaction): Promise<Pins> {
  const tools = await pinnedToolStore(tx).listPins();
  return tools.map(({ serverId, toolName, pinnedHash, mayVary, approvedAt }) => ({
    server_id: serverId,
    tool_name: toolName,
    hash: pinnedHash,
    ...(mayVary && { varies: true }),
    ...(approvedAt && { approved_at: approvedAt.toISOString() }),
  }));
}
