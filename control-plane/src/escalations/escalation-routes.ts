/** /api/v1/escalations: calls that wait for a person, and people's decisions about them. */
import { AppError } from '@governance/shared/errors';
import { GivenId, Text } from '@governance/shared/text';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { isJustification, MIN_JUSTIFICATION } from '../exceptions/exception.ts';
import type { TenantScope } from '../platform/database/tenant-scope.ts';
import { mayManage } from '../platform/http/role-table.ts';
import { ErrorBody, listOf, pageQuery } from '../platform/http/schemas.ts';
import { type Decision, EscalationStatus, EscalationView, toView } from './escalation.ts';
import { EscalationDetail, type EscalationDetails } from './escalation-details.ts';
import type { EscalationService } from './escalation-service.ts';

const tags = ['escalations'];
const read = { guard: 'admin', use: 'read' } as const;
const resolve = { guard: 'admin', use: 'resolve' } as const;

const EscalationQuery = z.object({
  status: EscalationStatus.optional(),
  ...pageQuery({ default: 50, max: 200 }),
});
const EscalationList = listOf('escalations', EscalationView);
const Params = z.object({ id: GivenId });
const Notes = Text.max(2_000).optional();

const ApprovalBody = z
  .strictObject({
    notes: Notes,
    create_exception: z.boolean().optional().meta({
      description:
        'Also makes an exception of the call’s shape, for 24 hours. For the role admin; `notes` justify it, in at least 10 characters.',
    }),
  })
  .nullish();
const DenialBody = z.strictObject({ notes: Notes }).nullish();

/**
 * An exception needs a role that may manage, and a justification: a role that may only decide
 * single calls cannot create a rule.
 *
 * @throws AppError ROLE_REQUIRED, VALIDATION_FAILED
 */
function requireJustified({ actor }: TenantScope, notes: string | null): string {
  if (!mayManage(actor)) {
    const detail = `The role ${actor.role} may not do that: an exception is for admin; without create_exception the call can be approved.`;
    throw new AppError('ROLE_REQUIRED', detail);
  }
  if (notes !== null && isJustification(notes)) return notes;
  const msg = `must say why there is an exception, in at least ${MIN_JUSTIFICATION} characters`;
  throw new AppError('VALIDATION_FAILED', `body.notes: ${msg}`, {
    errors: [{ loc: ['body', 'notes'], msg, type: 'custom' }],
  });
}

export const escalationRoutes =
  (escalations: EscalationService, details: EscalationDetails): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/api/v1/escalations',
      {
        config: read,
        schema: {
          summary: 'Calls that wait, or waited, for a person, newest first',
          tags,
          querystring: EscalationQuery,
          response: { 200: EscalationList },
        },
      },
      async ({ scope, query: { status, ...page } }) => {
        const { escalations: found, total } = await escalations.list(scope, { status }, page);
        return { escalations: found.map(toView), total };
      },
    );

    app.get(
      '/api/v1/escalations/:id',
      {
        config: read,
        schema: {
          summary: 'What a person needs to know to decide',
          description:
            'The call, its arguments as far as data protection shows them, and what the agent did in the minutes before. Each look at stored arguments is recorded as payload_read.',
          tags,
          params: Params,
          response: { 200: EscalationDetail, 404: ErrorBody },
        },
      },
      async ({ scope, params }) => details.get(scope, params.id),
    );

    app.post(
      '/api/v1/escalations/:id/approve',
      {
        config: resolve,
        schema: {
          summary: 'Approve a held call',
          description:
            'The call may be forwarded once, within ten minutes, for a client that waits for it or repeats it. It is evaluated again, and a denial wins.',
          tags,
          params: Params,
          body: ApprovalBody,
          response: { 200: EscalationView, 404: ErrorBody, 409: ErrorBody },
        },
      },
      async ({ scope, params, body }) => {
        const notes = body?.notes ?? null;
        const decision: Decision = { status: 'approved', notes };
        if (body?.create_exception) decision.exceptionFor = requireJustified(scope, notes);
        return toView(await escalations.decide(scope, params.id, decision));
      },
    );

    app.post(
      '/api/v1/escalations/:id/deny',
      {
        config: resolve,
        schema: {
          summary: 'Deny a held call',
          tags,
          params: Params,
          body: DenialBody,
          response: { 200: EscalationView, 404: ErrorBody, 409: ErrorBody },
        },
      },
      async ({ scope, params, body }) => {
        const decision = { status: 'denied', notes: body?.notes ?? null } as const;
        return toView(await escalations.decide(scope, params.id, decision));
      },
    );
  };
