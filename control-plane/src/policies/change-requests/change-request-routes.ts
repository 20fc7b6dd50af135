/** Specification 1, section 4: "Policies, change requests". */
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { ErrorBody } from '../../platform/http/schemas.ts';
import { PolicyParams } from '../policy-schemas.ts';
import {
  ChangeRequestList,
  ChangeRequestParams,
  ChangeRequestQuery,
  ChangeRequestView,
  DecisionBody,
  LookedAtView,
  NewChangeRequestBody,
  PendingView,
  toChangeRequestView,
  toListedView,
  toLookedAtView,
} from './change-request-schemas.ts';
import type { ChangeRequestService } from './change-request-service.ts';

const tags = ['policies'];

export const changeRequestRoutes =
  (requests: ChangeRequestService): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/api/v1/policies/change-requests/pending',
      {
        config: { guard: 'admin', use: 'read' },
        schema: {
          summary: 'How many change requests wait, and which, the oldest first',
          tags,
          response: { 200: PendingView },
        },
      },
      async ({ scope }) => {
        const found = await requests.listPending(scope);
        return {
          total: found.length,
          change_requests: found.map(
            ({ id, policyId, proposedName, summary, author, createdAt }) => ({
              ...{ id, policy_id: policyId, proposed_name: proposedName, summary, author },
              created_at: createdAt.toISOString(),
            }),
          ),
        };
      },
    );

    app.get(
      '/api/v1/policies/:id/change-requests',
      {
        config: { guard: 'admin', use: 'read' },
        schema: {
          summary: 'The change requests of a policy, newest first',
          tags,
          params: PolicyParams,
          querystring: ChangeRequestQuery,
          response: { 200: ChangeRequestList },
        },
      },
      async ({ scope, params, query: { req_status: status, ...page } }) => {
        const { found, total } = await requests.list(scope, params.id, status, page);
        return { change_requests: found.map(toListedView), total };
      },
    );

    app.post(
      '/api/v1/policies/:id/change-requests',
      {
        config: { guard: 'admin', use: 'manage' },
        schema: {
          summary: 'Propose a change of a policy',
          description: 'Omitted fields stay unchanged. The source must compile.',
          tags,
          params: PolicyParams,
          body: NewChangeRequestBody,
          response: { 201: ChangeRequestView, 409: ErrorBody },
        },
      },
      async ({ scope, params, body }, reply) =>
        reply.code(201).send(toChangeRequestView(await requests.propose(scope, params.id, body))),
    );

    app.get(
      '/api/v1/policies/:id/change-requests/:req_id',
      {
        config: { guard: 'admin', use: 'read' },
        schema: {
          summary: 'One change request, and what it would change',
          tags,
          params: ChangeRequestParams,
          response: { 200: LookedAtView },
        },
      },
      async ({ scope, params: { id, req_id } }) =>
        toLookedAtView(await requests.look(scope, id, req_id)),
    );

    app.post(
      '/api/v1/policies/:id/change-requests/:req_id/approve',
      {
        config: { guard: 'admin', use: 'resolve' },
        schema: {
          summary: 'Approve a change request: the policy becomes what it proposes',
          description:
            'The answer comes once it is enforced. 409 where the policy is no longer what it was when the change was proposed; `errors` says what differs.',
          tags,
          params: ChangeRequestParams,
          body: DecisionBody,
          response: { 200: ChangeRequestView, 409: ErrorBody },
        },
      },
      async ({ scope, params: { id, req_id }, body }) =>
        toChangeRequestView(await requests.approve(scope, id, req_id, body)),
    );

    app.post(
      '/api/v1/policies/:id/change-requests/:req_id/reject',
      {
        config: { guard: 'admin', use: 'resolve' },
        schema: {
          summary: 'Reject a change request, or withdraw your own',
          tags,
          params: ChangeRequestParams,
          body: DecisionBody,
          response: { 200: ChangeRequestView, 409: ErrorBody },
        },
      },
      async ({ scope, params: { id, req_id }, body }) =>
        toChangeRequestView(await requests.reject(scope, id, req_id, body)),
    );
  };
