import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { ErrorBody, NoContent } from '../platform/http/schemas.ts';
import {
  AgentList,
  AgentParams,
  AgentPatchBody,
  AgentQuery,
  AgentRoleParams,
  AgentView,
  AssignRoleBody,
  CreatedAgent,
  NewAgentBody,
  RotatedAgent,
  toListed,
  toView,
} from './agent-schemas.ts';
import type { AgentService } from './agent-service.ts';

const tags = ['agents'];

export const agentRoutes =
  (agents: AgentService): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/api/v1/agents',
      {
        config: { guard: 'admin', use: 'read' },
        schema: {
          summary: 'List agents, newest first',
          tags,
          querystring: AgentQuery,
          response: { 200: AgentList },
        },
      },
      async ({ scope, query: { status, ...page } }) => {
        const { agents: found, total } = await agents.list(scope, status, page);
        return { agents: found.map(toListed), total };
      },
    );

    app.post(
      '/api/v1/agents',
      {
        config: { guard: 'admin' },
        schema: {
          summary: 'Register an agent; its secret is shown this once',
          tags,
          body: NewAgentBody,
          response: { 201: CreatedAgent },
        },
      },
      async (request, reply) => {
        const { name, agent_type: agentType, owner, description } = request.body;
        const input = { name, agentType, owner, description };
        const { agent, secret } = await agents.register(request.scope, input);
        reply.header('cache-control', 'no-store');
        return reply.code(201).send({
          id: agent.id,
          name: agent.name,
          client_id: agent.clientId,
          client_secret: secret,
          status: agent.status,
          created_at: agent.createdAt.toISOString(),
        });
      },
    );

    app.get(
      '/api/v1/agents/:id',
      {
        config: { guard: 'admin', use: 'read' },
        schema: {
          summary: 'An agent with its roles and permissions',
          tags,
          params: AgentParams,
          response: { 200: AgentView },
        },
      },
      async (request) => toView(await agents.get(request.scope, request.params.id)),
    );

    app.patch(
      '/api/v1/agents/:id',
      {
        config: { guard: 'admin' },
        schema: {
          summary: 'Change an agent; `active` also releases it from the kill switch',
          tags,
          params: AgentParams,
          body: AgentPatchBody,
          response: { 200: AgentView, 409: ErrorBody },
        },
      },
      async (request) => toView(await agents.patch(request.scope, request.params.id, request.body)),
    );

    app.post(
      '/api/v1/agents/:id/rotate',
      {
        config: { guard: 'admin' },
        schema: {
          summary: 'Issue a new secret; the old one and its tokens end at once',
          tags,
          params: AgentParams,
          response: { 200: RotatedAgent, 409: ErrorBody },
        },
      },
      async (request, reply) => {
        const { agent, secret, rotatedAt } = await agents.rotate(request.scope, request.params.id);
        reply.header('cache-control', 'no-store');
        return {
          id: agent.id,
          client_id: agent.clientId,
          client_secret: secret,
          rotated_at: rotatedAt.toISOString(),
        };
      },
    );

    app.post(
      '/api/v1/agents/:id/roles',
      {
        config: { guard: 'admin' },
        schema: {
          summary: 'Give an agent a role',
          tags,
          params: AgentParams,
          body: AssignRoleBody,
          response: { 200: AgentView, 409: ErrorBody },
        },
      },
      async (request) =>
        toView(await agents.assignRole(request.scope, request.params.id, request.body.role_id)),
    );

    app.delete(
      '/api/v1/agents/:id/roles/:role_id',
      {
        config: { guard: 'admin' },
        schema: {
          summary: 'Take a role from an agent',
          tags,
          params: AgentRoleParams,
          response: { 204: NoContent, 409: ErrorBody },
        },
      },
      async (request, reply) => {
        await agents.removeRole(request.scope, request.params.id, request.params.role_id);
        return reply.code(204).send();
      },
    );
  };
