/** Specification 1, section 4: "Policies". */
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { ErrorBody } from '../platform/http/schemas.ts';
import {
  EvaluateBody,
  EvaluationView,
  NewPolicyBody,
  OnePolicyView,
  PolicyListQuery,
  PolicyListView,
  PolicyParams,
  PolicyPatchBody,
  toOnePolicyView,
  toPolicyView,
} from './policy-schemas.ts';
import type { PolicyService } from './policy-service.ts';

const tags = ['policies'];
const config = { guard: 'admin' } as const;

export const policyRoutes =
  (policies: PolicyService): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/api/v1/policies',
      {
        config: { ...config, use: 'read' },
        schema: {
          summary: 'The policies of the tenant',
          tags,
          querystring: PolicyListQuery,
          response: { 200: PolicyListView },
        },
      },
      async ({ scope, query }) => {
        const found = await policies.list(scope, query.status);
        return { policies: found.map(toPolicyView), total: found.length };
      },
    );

    app.post(
      '/api/v1/policies',
      {
        config,
        schema: {
          summary: 'Create a policy',
          description:
            'The source must compile, also that of a draft. For an active policy the answer comes once it is enforced. `warnings` says where it decides nothing, since it has none of the three rules.',
          tags,
          body: NewPolicyBody,
          response: { 201: OnePolicyView, 409: ErrorBody },
        },
      },
      async ({ scope, body }, reply) =>
        reply.code(201).send(toOnePolicyView(await policies.create(scope, body))),
    );

    app.get(
      '/api/v1/policies/:id',
      {
        config: { ...config, use: 'read' },
        schema: {
          summary: 'One policy',
          tags,
          params: PolicyParams,
          response: { 200: OnePolicyView },
        },
      },
      async ({ scope, params }) => toOnePolicyView(await policies.get(scope, params.id)),
    );

    app.patch(
      '/api/v1/policies/:id',
      {
        config,
        schema: {
          summary: 'Change a policy, activate it, archive it',
          description:
            'Any status may follow any other: draft, active, archived. Only active policies decide. A change of active policies is answered once it is enforced.',
          tags,
          params: PolicyParams,
          body: PolicyPatchBody,
          response: { 200: OnePolicyView, 409: ErrorBody },
        },
      },
      async ({ scope, params, body }) =>
        toOnePolicyView(
          await policies.change(scope, params.id, {
            name: body.name,
            description: body.description,
            regoContent: body.rego_content,
            status: body.status,
          }),
        ),
    );

    app.post(
      '/api/v1/policies/:id/evaluate',
      {
        config: { ...config, use: 'read' },
        schema: {
          summary: 'What this policy alone, and the active set with it, would decide, and why',
          description:
            'Whatever the status of this policy. Decided as data planes decide, and explained by OPA’s interpreter; nothing is recorded or forwarded.',
          tags,
          params: PolicyParams,
          body: EvaluateBody,
          response: { 200: EvaluationView },
        },
      },
      async ({ scope, params, body }) => policies.evaluate(scope, params.id, body),
    );
  };
