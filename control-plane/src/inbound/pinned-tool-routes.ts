/** /api/v1/mcp-servers/{id}/tools: pinned tools and approvals, added to the specification's. */
import { Sha256Hex, Text, Timestamp } from '@governance/shared/text';
import { ToolDifference } from '@governance/shared/tool-pins';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ServerId } from '../mcp-servers/mcp-server.ts';
import { ErrorBody, pageQuery } from '../platform/http/schemas.ts';
import type { PinnedToolService } from './pinned-tool-service.ts';
import type { PinnedTool } from './pinned-tool-store.ts';

const tags = ['inbound'];
const config = { guard: 'admin' } as const;

const PinnedToolView = z
  .object({
    name: z.string(),
    /**
     * `changed`: what was seen last is not what the tool is pinned to. `varies`: its server says
     * something else of it again and again.
     */
    status: z.enum(['pinned', 'changed', 'varies']),
    pinned_hash: z.string(),
    seen_hash: z.string(),
    /** Members of the definition that differ, as far as the data plane knows them. */
    changed: z.array(z.string()),
    /** Where these begin to differ, as JSON: what the server wrote, unchecked. */
    difference: ToolDifference,
    first_seen_at: Timestamp,
    /** Null for a tool that never was anything else. */
    changed_at: Timestamp.nullable(),
    /** Whatever the server says of the tool is approved. */
    may_vary: z.boolean(),
    approved_by: z.string().nullable(),
    approved_at: Timestamp.nullable(),
  })
  .meta({ id: 'PinnedTool' });

const PinnedToolList = z.object({ tools: z.array(PinnedToolView), total: z.int() });

const ServerParams = z.object({ server_id: ServerId });
const ToolParams = z.object({ server_id: ServerId, tool: Text.min(1).max(256) });

const ToolQuery = z.object(pageQuery({ default: 1_000, max: 4_000, offset: { max: 1_000_000 } }));

const ApprovalBody = z
  .strictObject({
    /** What was looked at: another one by now is a 409. */
    hash: Sha256Hex.optional(),
    /** Approves whatever the server says of the tool, for one whose description has a date or a name. */
    may_vary: z.boolean().default(false),
  })
  .nullish();

const VARIES_MS = 24 * 60 * 60_000;

function toView(tool: PinnedTool, now: Date): z.input<typeof PinnedToolView> {
  const isChanged = tool.seenHash !== tool.pinnedHash;
  // Until it has stayed the same for a day.
  const varies = tool.varies && now.getTime() - tool.seenAt.getTime() < VARIES_MS;
  const status = isChanged ? 'changed' : 'pinned';
  return {
    name: tool.toolName,
    status: varies ? 'varies' : status,
    pinned_hash: tool.pinnedHash,
    seen_hash: tool.seenHash,
    changed: isChanged ? tool.changed : [],
    difference: isChanged ? tool.difference : [],
    first_seen_at: tool.firstSeenAt.toISOString(),
    changed_at: tool.changedAt?.toISOString() ?? null,
    may_vary: tool.mayVary,
    approved_by: tool.approvedBy,
    approved_at: tool.approvedAt?.toISOString() ?? null,
  };
}

export const pinnedToolRoutes =
  (tools: PinnedToolService, now: () => Date): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/api/v1/mcp-servers/:server_id/tools',
      {
        config: { ...config, use: 'read' },
        schema: {
          summary: 'Tools of a server, and what their definitions are pinned to',
          description:
            'By name: every tool that a data plane has seen, once its heartbeat told of it, which takes some seconds.',
          tags,
          params: ServerParams,
          querystring: ToolQuery,
          response: { 200: PinnedToolList },
        },
      },
      async ({ scope, params, query }) => {
        const { tools: found, total } = await tools.list(scope, params.server_id, query);
        return { tools: found.map((tool) => toView(tool, now())), total };
      },
    );

    app.post(
      '/api/v1/mcp-servers/:server_id/tools/:tool/approve',
      {
        config,
        schema: {
          summary: 'Approve the changed definition of a tool',
          description:
            'The tool is pinned to what was seen last. With `hash`, only if that is what was seen last. With `may_vary`, whatever its server says of it from now on is approved, too.',
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
            mayVary: body?.may_vary ?? false,
          }),
          now(),
        ),
    );
  };
