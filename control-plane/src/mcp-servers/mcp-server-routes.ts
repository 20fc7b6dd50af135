/** /api/v1/mcp-servers: the MCP servers that agents may use. */
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { TenantScope } from '../platform/database/tenant-scope.ts';
import { mayManage } from '../platform/http/role-table.ts';
import { ErrorBody, NoContent } from '../platform/http/schemas.ts';
import type { ServerWithCredential } from './mcp-server.ts';
import {
  NewServerBody,
  ServerListView,
  ServerParams,
  ServerPatchBody,
  ServerView,
  toServerView,
} from './mcp-server-schemas.ts';
import type { McpServerService } from './mcp-server-service.ts';
import type { ServerHealth } from './server-health.ts';

const tags = ['mcp servers'];
const config = { guard: 'admin' } as const;

export const mcpServerRoutes =
  (servers: McpServerService, health: ServerHealth): FastifyPluginAsyncZod =>
  async (app) => {
    const show = async (scope: TenantScope, found: ServerWithCredential) => {
      const { serverId } = found.server;
      const findings = (await health.find(scope, serverId)).get(serverId);
      return toServerView(found, findings, seesKeys(scope));
    };

    app.get(
      '/api/v1/mcp-servers',
      {
        config: { ...config, use: 'read' },
        schema: {
          summary: 'The registered MCP servers',
          description:
            'Each server has its health as online data planes report it: `health` is the worst finding, `health_by` lists the data planes.',
          tags,
          response: { 200: ServerListView },
        },
      },
      async ({ scope }) => {
        const found = await servers.list(scope);
        const findings = await health.find(scope);
        const isWhole = seesKeys(scope);
        const views = found.map((one) =>
          toServerView(one, findings.get(one.server.serverId), isWhole),
        );
        return { mcp_servers: views, total: views.length };
      },
    );

    app.post(
      '/api/v1/mcp-servers',
      {
        config,
        schema: {
          summary: 'Register an MCP server',
          description:
            'A stdio server has the name that the data plane’s operator gave it; a command cannot be given. A credential is kept encrypted, sent to data planes sealed, and never shown again.',
          tags,
          body: NewServerBody,
          response: { 201: ServerView, 409: ErrorBody },
        },
      },
      async ({ scope, body }, reply) =>
        reply.code(201).send(await show(scope, await servers.create(scope, body))),
    );

    app.get(
      '/api/v1/mcp-servers/:server_id',
      {
        config: { ...config, use: 'read' },
        schema: {
          summary: 'One MCP server',
          tags,
          params: ServerParams,
          response: { 200: ServerView },
        },
      },
      async ({ scope, params }) => show(scope, await servers.get(scope, params.server_id)),
    );

    app.patch(
      '/api/v1/mcp-servers/:server_id',
      {
        config,
        schema: {
          summary: 'Change an MCP server, switch it off, replace or remove its credential',
          description:
            'A url on another origin needs the credential again (or null), so that it is not sent elsewhere.',
          tags,
          params: ServerParams,
          body: ServerPatchBody,
          response: { 200: ServerView },
        },
      },
      async ({ scope, params, body }) =>
        show(scope, await servers.change(scope, params.server_id, body)),
    );

    app.delete(
      '/api/v1/mcp-servers/:server_id',
      {
        config,
        schema: {
          summary: 'Remove an MCP server',
          tags,
          params: ServerParams,
          response: { 204: NoContent },
        },
      },
      async ({ scope, params }, reply) => {
        await servers.delete(scope, params.server_id);
        return reply.code(204).send();
      },
    );
  };

/** Whoever may only read must not learn how to call a server past the gateway. */
const seesKeys = ({ actor }: TenantScope): boolean => mayManage(actor);
