import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { ErrorBody, NoContent } from '../platform/http/schemas.ts';
import type { SessionService } from './session-service.ts';
import {
  CreatedSession,
  NewSessionBody,
  NewWorkflowBody,
  SessionList,
  SessionParams,
  SessionQuery,
  toSessionView,
  toWorkflowView,
  WorkflowChangeBody,
  WorkflowList,
  WorkflowParams,
  WorkflowQuery,
  WorkflowSessionView,
  WorkflowView,
} from './workflow-schemas.ts';
import type { WorkflowService } from './workflow-service.ts';

const tags = ['workflows'];
const PATH = '/api/v1/workflows';
const config = { guard: 'admin' } as const;
const reading = { guard: 'admin', use: 'read' } as const;

export const workflowRoutes =
  (workflows: WorkflowService): FastifyPluginAsyncZod =>
  async (app) => {
    app.post(
      PATH,
      {
        config,
        schema: {
          summary: 'Create a workflow: which agents work together, how deep, and who may do what',
          tags,
          body: NewWorkflowBody,
          response: { 201: WorkflowView, 404: ErrorBody, 409: ErrorBody },
        },
      },
      async (request, reply) =>
        reply.code(201).send(toWorkflowView(await workflows.create(request.scope, request.body))),
    );

    app.get(
      PATH,
      {
        config: reading,
        schema: {
          summary: 'List workflows, newest first',
          tags,
          querystring: WorkflowQuery,
          response: { 200: WorkflowList },
        },
      },
      async ({ scope, query: { status_filter: status, ...page } }) => {
        const { workflows: found, total } = await workflows.list(scope, status, page);
        return { workflows: found.map(toWorkflowView), total };
      },
    );

    app.get(
      `${PATH}/:id`,
      {
        config: reading,
        schema: {
          summary: 'A workflow',
          tags,
          params: WorkflowParams,
          response: { 200: WorkflowView },
        },
      },
      async (request) => toWorkflowView(await workflows.get(request.scope, request.params.id)),
    );

    app.put(
      `${PATH}/:id`,
      {
        config,
        schema: {
          summary:
            'Change a workflow; omitted fields stay unchanged. Applies to running sessions too',
          tags,
          params: WorkflowParams,
          body: WorkflowChangeBody,
          response: { 200: WorkflowView, 409: ErrorBody },
        },
      },
      async (request) =>
        toWorkflowView(await workflows.update(request.scope, request.params.id, request.body)),
    );

    app.delete(
      `${PATH}/:id`,
      {
        config,
        schema: {
          summary: 'Delete a workflow; its sessions end, and their events stay recorded',
          tags,
          params: WorkflowParams,
          response: { 204: NoContent },
        },
      },
      async (request, reply) => {
        await workflows.delete(request.scope, request.params.id);
        return reply.code(204).send();
      },
    );

    app.post(
      `${PATH}/:id/suspend`,
      {
        config,
        schema: {
          summary: 'Suspend a workflow: no session starts, and calls in running ones are denied',
          tags,
          params: WorkflowParams,
          response: { 200: WorkflowView },
        },
      },
      async (request) => toWorkflowView(await workflows.suspend(request.scope, request.params.id)),
    );
  };

export const workflowSessionRoutes =
  (sessions: SessionService): FastifyPluginAsyncZod =>
  async (app) => {
    app.post(
      `${PATH}/:id/sessions`,
      {
        config,
        schema: {
          summary: 'Start a session; its token is shown only in this answer',
          tags,
          params: WorkflowParams,
          body: NewSessionBody,
          response: { 201: CreatedSession, 409: ErrorBody },
        },
      },
      async (request, reply) => {
        const { id } = request.params;
        const { session, wfToken } = await sessions.start(request.scope, id, request.body);
        reply.header('cache-control', 'no-store');
        return reply.code(201).send({ ...toSessionView(session), wf_token: wfToken });
      },
    );

    app.get(
      `${PATH}/:id/sessions`,
      {
        config: reading,
        schema: {
          summary: 'List the sessions of a workflow, newest first',
          tags,
          params: WorkflowParams,
          querystring: SessionQuery,
          response: { 200: SessionList },
        },
      },
      async (request) => {
        const page = await sessions.list(request.scope, request.params.id, request.query);
        return { sessions: page.sessions.map(toSessionView), total: page.total };
      },
    );

    app.get(
      `${PATH}/:id/sessions/:sid`,
      {
        config: reading,
        schema: {
          summary: 'A session of a workflow',
          tags,
          params: SessionParams,
          response: { 200: WorkflowSessionView },
        },
      },
      async (request) => {
        const { id, sid } = request.params;
        return toSessionView(await sessions.get(request.scope, id, sid));
      },
    );

    for (const [verb, done] of [
      ['complete', 'completed'],
      ['abort', 'aborted'],
    ] as const) {
      app.post(
        `${PATH}/:id/sessions/:sid/${verb}`,
        {
          config,
          schema: {
            summary: `End a session as ${done}; its token and its delegations end at once`,
            tags,
            params: SessionParams,
            response: { 200: WorkflowSessionView, 409: ErrorBody },
          },
        },
        async (request) => {
          const { id, sid } = request.params;
          return toSessionView(await sessions[verb](request.scope, id, sid));
        },
      );
    }
  };
