/** /api/v1/mcp-servers/{id}/tools: changed tools and their approval, added to the specification's. */
import { Sha256Hex, Text, Timestamp } from '@governance/shared/text';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ServerId } from '../mcp-servers/mcp-server.ts';
import { ErrorBody } from '../platform/http/schemas.ts';
import type { PinnedToolService } from './pinned-tool-service.ts';
import type { PinnedTool } from './pinned-tool-store.ts';

const tags = ['inbound'];
const config = { guard: 'admin' } as const;

const PinnedToolView = z
  .object({
    name: z.string(),
    /** `changed`: what was seen last is not what the tool is pinned to. */
    status: z.enum(['pinned', 'changed']),
    pinned_hash: z.string(),
    seen_hash: z.string(),
    /** Members of the definition that differ, as far as the data plane knows them. */
    changed: z.array(z.string()),
    first_seen_at: Timestamp,
    changed_at: Timestamp,
    approved_by: z.string().nullable(),
    approved_at: Timestamp.nullable(),
  })
  .meta({ id: 'PinnedTool' });

const PinnedToolList = z.object({ tools: z.array(PinnedToolView), total: z.int() });

const ServerParams = z.object({ server_id: ServerId });
const ToolParams = z.object({ server_id: ServerId, tool: Text.min(1).max(256) });

/** The hash that was looked at: another one by now is a 409. */
const ApprovalBody = z.strictObject({ hash: Sha256Hex.optional() }).nullish();

function toView(tool: PinnedTool): z.input<typeof PinnedToolView> {
  const isChanged = tool.seenHash !== tool.pinnedHash;
  return {
    name: tool.toolName,
    status: isChanged ? 'changed' : 'pinned',
    pinned_hash: tool.pinnedHash,
    seen_hash: tool.seenHash,
    changed: isChanged ? tool.changed : [],
    first_seen_at: tool.firstSeenAt.toISOString(),
    changed_at: tool.changedAt.toISOString(),
    approved_by: tool.approvedBy,
    approved_at: tool.approvedAt?.toISOString() ?? null,
  };
}

export const pinnedToolRoutes =
  (tools: PinnedToolService): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/api/v1/mcp-servers/:server_id/tools',
      {
        config: { ...config, use: 'read' },
        schema: {
          summary: 'Tools of a server whose definition has changed',
          description:
            'By name. A tool is here once a data plane has seen its definition change; those that never did are pinned at the data planes and not listed.',
          tags,
          params: ServerParams,
          response: { 200: PinnedToolList },
        },
      },
      async ({ scope, params }) => {
        const found = await tools.list(scope, params.server_id);
        return { tools: found.map(toView), total: found.length };
      },
    );

    app.post(
      '/api/v1/mcp-servers/:server_id/tools/:tool/approve',
      {
        config,
        schema: {
          summary: 'Approve the changed definition of a tool',
          description:
            'The tool is pinned to what was seen last. With `hash`, only if that is what was seen last.',
          tags,
          params: ToolParams,
          body: ApprovalBody,
          response: { 200: PinnedToolView, 409: ErrorBody },
        },
      },
      async ({ scope, params, body }) =>
        toView(
          await tools.approve(scope, {
            serverId: params.server_id,
            toolName: params.tool,
            hash: body?.hash,
          }),
        ),
    );
  };
