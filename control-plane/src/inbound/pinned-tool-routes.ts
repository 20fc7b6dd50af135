/**
 * /api/v1/mcp-servers/{id}/tools: pinned tools and approvals; routes added to those of the
 * specification.
 */

import { ToolDifference } from '@governance/shared/mcp/tool-pins';
import { Sha256Hex, Text, Timestamp } from '@governance/shared/text';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ServerId } from '../mcp-servers/mcp-server.ts';
import { ErrorBody, listOf, pageQuery } from '../platform/http/schemas.ts';
import { isVarying, type PinnedToolService } from './pinned-tool-service.ts';
import type { PinnedTool } from './pinned-tool-store.ts';

const tags = ['inbound'];
const config = { guard: 'admin' } as const;

const PinnedToolView = z
  .object({
    name: z.string(),
    /**
     * `changed`: the definition seen last differs from the pin. `varies`: the definition keeps
     * changing.
     */
    status: z.enum(['pinned', 'changed', 'varies']),
    pinned_hash: z.string(),
    seen_hash: z.string(),
    /** Members of the definition that differ, as far as the data plane knows them. */
    changed: z.array(z.string()),
    /** Where these members begin to differ, as JSON; it is the server's text, unchecked. */
    difference: ToolDifference,
    first_seen_at: Timestamp,
    /** Null for a tool that never changed. */
    changed_at: Timestamp.nullable(),
    /** Whether every definition of the tool is approved. */
    may_vary: z.boolean(),
    approved_by: z.string().nullable(),
    approved_at: Timestamp.nullable(),
  })
  .meta({ id: 'PinnedTool' });

const PinnedToolList = listOf('tools', PinnedToolView);

const ServerParams = z.object({ server_id: ServerId });
const ToolParams = z.object({ server_id: ServerId, tool: Text.min(1).max(256) });

const ToolQuery = z.object(pageQuery({ default: 1_000, max: 4_000, offset: { max: 1_000_000 } }));

const ApprovalBody = z
  .strictObject({
    /** The hash that was reviewed; 409 if it has changed since. */
    hash: Sha256Hex.optional(),
    /** Approves every definition, for a tool whose description contains a date or a name. */
    may_vary: z.boolean().default(false),
  })
  .nullish();

function toView(tool: PinnedTool, now: Date): z.input<typeof PinnedToolView> {
  const isChanged = tool.seenHash !== tool.pinnedHash;
  const status = isChanged ? 'changed' : 'pinned';
  return {
    name: tool.toolName,
    status: isVarying(tool, now) ? 'varies' : status,
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
          summary: 'The tools of a server, and the pins of their definitions',
          description:
            'By name: every tool that a data plane has seen, some seconds later, when its heartbeat reported it.',
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
            'Pins the tool to the definition seen last. With `hash`, only if that is its hash. With `may_vary`, all later definitions are approved too.',
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
