import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { ErrorBody } from '../platform/http/schemas.ts';
import { SessionParams } from '../workflows/workflow-schemas.ts';
import {
  CreatedDelegation,
  DelegationList,
  DelegationParams,
  DelegationQuery,
  DelegationView,
  NewDelegationBody,
  toDelegationView,
} from './delegation-schemas.ts';
import type { DelegationService } from './delegation-service.ts';

const tags = ['delegations'];
const PATH = '/api/v1/delegations';
const config = { guard: 'admin' } as const;
const reading = { guard: 'admin', use: 'read' } as const;

export const delegationRoutes =
  (delegations: DelegationService): FastifyPluginAsyncZod =>
  async (app) => {
    app.post(
      PATH,
      {
        config,
        schema: {
          summary: 'Let one agent act for another; the token is shown only in this answer',
          tags,
          body: NewDelegationBody,
          response: { 201: CreatedDelegation, 403: ErrorBody, 404: ErrorBody, 409: ErrorBody },
        },
      },
      async (request, reply) => {
        const { delegation, dToken } = await delegations.issue(request.scope, request.body);
        reply.header('cache-control', 'no-store');
        return reply.code(201).send({ ...toDelegationView(delegation), d_token: dToken });
      },
    );

    app.get(
      `${PATH}/:id`,
      {
        config: reading,
        schema: {
          summary: 'A delegation',
          tags,
          params: DelegationParams,
          response: { 200: DelegationView },
        },
      },
      async (request) => toDelegationView(await delegations.get(request.scope, request.params.id)),
    );

    app.post(
      `${PATH}/:id/revoke`,
      {
        config,
        schema: {
          summary: 'Revoke a delegation and those derived from it; their tokens end at once',
          tags,
          params: DelegationParams,
          response: { 200: DelegationView },
        },
      },
      async (request) =>
        toDelegationView(await delegations.revoke(request.scope, request.params.id)),
    );

    app.get(
      '/api/v1/workflows/:id/sessions/:sid/delegations',
      {
        config: reading,
        schema: {
          summary: 'The delegations of a workflow session, newest first',
          tags,
          params: SessionParams,
          querystring: DelegationQuery,
          response: { 200: DelegationList },
        },
      },
      async (request) => {
        const { id: workflowId, sid: sessionId } = request.params;
        const place = { workflowId, sessionId };
        const page = await delegations.listOfSession(request.scope, place, request.query);
        return { delegations: page.delegations.map(toDelegationView), total: page.total };
      },
    );
  };
