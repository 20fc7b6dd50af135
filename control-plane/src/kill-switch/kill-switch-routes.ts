import { AppError } from '@governance/shared/errors';
import { Text } from '@governance/shared/text';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { findScope } from '../platform/http/route-table.ts';
import type { FleetResult } from './fleet-kill-switch.ts';
import type { KillSwitchResult, KillSwitchService } from './kill-switch-service.ts';

const tags = ['kill switch'];

/**
 * The specification gives the request no body. Without one, it suspends the tenant's agents, or
 * those of all tenants if a super-admin names no tenant.
 */
const KillSwitchBody = z
  .strictObject({
    /** `all` reaches every tenant and is for a super-admin. */
    scope: z.enum(['tenant', 'all']).optional(),
    reason: Text.max(2_000).nullable().default(null),
    /** Lifts it instead, which restores every agent's own status. */
    lift: z.boolean().default(false),
  })
  .nullish()
  .transform((body) => body ?? { scope: undefined, reason: null, lift: false });

const state = {
  engaged: z.boolean(),
  scope: z.enum(['tenant', 'all']).nullable(),
  reason: z.string().nullable(),
  /** Who last changed it. */
  actor: z.string().nullable(),
  changed_at: z.string().nullable(),
  /** Agents that would be active but for the kill switch. */
  suspended_agents: z.int(),
};

const KillSwitchView = z
  .object({
    /** Counts its engagements; null in the answer for all tenants. */
    generation: z.int().nullable(),
    ...state,
    /** Only for scope `all`: how many tenants it reached, and which. */
    tenant_count: z.int().optional(),
    tenants: z
      .array(
        z.object({
          tenant_id: z.string(),
          generation: z.int(),
          /** Also where the tenant's own administrator holds it. */
          engaged: z.boolean(),
          suspended_agents: z.int(),
        }),
      )
      .optional(),
  })
  .meta({ id: 'KillSwitch' });

export const killSwitchRoutes =
  (killSwitch: KillSwitchService): FastifyPluginAsyncZod =>
  async (app) => {
    app.post(
      '/api/v1/admin/killswitch',
      {
        config: { guard: 'admin-or-platform' },
        schema: {
          summary: 'Suspend every agent at once, or lift the suspension',
          tags,
          body: KillSwitchBody,
          response: { 200: KillSwitchView },
        },
      },
      async (request) => {
        const { scope: reach, ...change } = request.body;
        const { actor } = request;
        const scope = findScope(request);
        if (scope) {
          if (reach !== 'all') return toView(await killSwitch.change(scope, change));
          if (actor.role !== 'super_admin') throw new AppError('SUPER_ADMIN_REQUIRED');
          throw new AppError('BAD_REQUEST', 'X-Tenant-Id and the scope all contradict each other.');
        }
        // A super-admin who names no tenant means all of them.
        if (reach === 'tenant') throw new AppError('NO_TENANT_CONTEXT');
        if (change.lift && reach !== 'all') throw unclearLift();
        return toViewOfAll(await killSwitch.changeAll(actor, change, request.id));
      },
    );

    app.get(
      '/api/v1/admin/killswitch',
      {
        config: { guard: 'admin', use: 'read' },
        schema: {
          summary: 'Whether the kill switch is engaged',
          tags,
          response: { 200: KillSwitchView },
        },
      },
      async (request) => toView(await killSwitch.read(request.scope)),
    );
  };

function toView(result: KillSwitchResult): z.input<typeof KillSwitchView> {
  return {
    generation: result.generation,
    engaged: result.engaged,
    scope: result.scope,
    reason: result.reason,
    actor: result.actor,
    changed_at: result.changedAt?.toISOString() ?? null,
    suspended_agents: result.suspendedAgents,
  };
}

function toViewOfAll({
  order,
  tenants,
}: FleetResult<KillSwitchResult>): z.input<typeof KillSwitchView> {
  return {
    generation: null,
    // A tenant may hold its own, which this order does not lift.
    engaged: tenants.some(({ engaged, scope }) => engaged && scope === 'all'),
    scope: 'all',
    reason: order.reason,
    actor: order.actor.username,
    changed_at: order.changedAt.toISOString(),
    suspended_agents: tenants.reduce((sum, result) => sum + result.suspendedAgents, 0),
    tenant_count: tenants.length,
    tenants: tenants.map((result) => ({
      tenant_id: result.tenantId,
      generation: result.generation,
      engaged: result.engaged,
      suspended_agents: result.suspendedAgents,
    })),
  };
}

/**
 * A lift for all tenants must be explicit: stopping everything by mistake is quickly undone,
 * releasing everything is not.
 */
function unclearLift(): AppError {
  const msg = 'must be all to lift it for all tenants';
  return new AppError('VALIDATION_FAILED', `body.scope: ${msg}`, {
    errors: [{ loc: ['body', 'scope'], msg, type: 'missing' }],
  });
}
