import { Timestamp } from '@governance/shared/text';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { TenantDatabase } from '../../platform/database/tenant-scope.ts';
import { witnessStore } from './witness-store.ts';
import type { Witness } from './witness-task.ts';

const WitnessView = z.object({
  name: z.string(),
  /** The log epoch and size that it cosigned last; size 0 for none. */
  log_epoch: z.int(),
  size: z.int(),
  cosigned_at: Timestamp.nullable(),
  /** Null before the first request. */
  asked_at: Timestamp.nullable(),
  /** Null while it answers. */
  failure: z.string().nullable(),
  failing_since: Timestamp.nullable(),
});

export const witnessRoutes =
  (db: Pick<TenantDatabase, 'inTenant'>, witnesses: readonly Witness[]): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/api/v1/evidence/witnesses',
      {
        config: { guard: 'admin', use: 'read' },
        schema: {
          summary: 'The witnesses of the log, what they cosigned last, and how they answer',
          tags: ['evidence'],
          response: { 200: z.object({ witnesses: z.array(WitnessView) }) },
        },
      },
      async ({ scope }) => {
        const states = await db.inTenant(scope, (tx) => witnessStore(tx).list());
        return {
          witnesses: witnesses.map(({ name }) => {
            const state = states.find(({ witness }) => witness === name);
            return {
              name,
              log_epoch: state?.epoch ?? 1,
              size: state?.size ?? 0,
              cosigned_at: state?.cosignedAt?.toISOString() ?? null,
              asked_at: state?.askedAt.toISOString() ?? null,
              failure: state?.failure ?? null,
              failing_since: state?.failingSince?.toISOString() ?? null,
            };
          }),
        };
      },
    );
  };
