/** /api/v1/inbound/rules: rules about the sources of results (specification 1, section 4). */
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ErrorBody, NoContent } from '../platform/http/schemas.ts';
import { NewRuleBody, RuleParams, RuleView, toRuleView } from './inbound-rule-schemas.ts';
import type { InboundRuleService } from './inbound-rule-service.ts';

const tags = ['inbound'];
const config = { guard: 'admin' } as const;

export const inboundRuleRoutes =
  (rules: InboundRuleService): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/api/v1/inbound/rules',
      {
        config: { ...config, use: 'read' },
        schema: {
          summary: 'The active source rules',
          description: 'An array, the oldest first. Expired rules are left out.',
          tags,
          response: { 200: z.array(RuleView) },
        },
      },
      async ({ scope }) => (await rules.list(scope)).map(toRuleView),
    );

    app.post(
      '/api/v1/inbound/rules',
      {
        config,
        schema: {
          summary: 'Trust, distrust or block a source',
          description:
            'The pattern is a glob of MCP server ids or of requested URIs; `*` matches any characters. `trust` skips the scanner, `untrusted` raises every finding by one severity, `block` replaces every result. Where several rules match, block goes before untrusted, and untrusted before trust. `expires_in`: `session` is one hour; `permanent` and null are for good.',
          tags,
          body: NewRuleBody,
          response: { 201: RuleView, 409: ErrorBody },
        },
      },
      async ({ scope, body }, reply) =>
        reply.code(201).send(toRuleView(await rules.create(scope, body))),
    );

    app.delete(
      '/api/v1/inbound/rules/:rule_id',
      {
        config,
        schema: {
          summary: 'Remove a source rule',
          tags,
          params: RuleParams,
          response: { 204: NoContent },
        },
      },
      async ({ scope, params }, reply) => {
        await rules.delete(scope, params.rule_id);
        return reply.code(204).send();
      },
    );
  };
