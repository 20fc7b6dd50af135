/** The routes by which data planes watch the log, and administrators list the watchers. */
import { AppError } from '@governance/shared/errors';
import { ContradictionReason, LogView } from '@governance/shared/evidence/log-watch';
import { GivenId, Id, Sha256Hex, Timestamp } from '@governance/shared/text';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { ReadingPlaces } from '../../feed/feed-reading-places.ts';
import type { TenantDatabase, TenantTransaction } from '../../platform/database/tenant-scope.ts';
import { ErrorBody, listOf, pageQuery, queryInt } from '../../platform/http/schemas.ts';
import { logStore } from '../log-store.ts';
import { whereWhole } from '../log-tree-store.ts';
import type { LogViews } from './log-views.ts';
import { type LogWatch, watchStore } from './watch-store.ts';

const HeldQuery = z.object({
  epoch: queryInt({ min: 1, max: 2_147_483_647 }).default(1).meta({ default: 1 }),
  size: queryInt({ min: 0 })
    .default(0)
    .meta({ default: 0, description: 'Of the largest checkpoint that the data plane keeps.' }),
});

const WatcherView = z.object({
  deployment_id: Id,
  label: z.string(),
  /** The highest checkpoint that it keeps; signed by this service. */
  log_epoch: z.int(),
  size: z.int(),
  root: Sha256Hex,
  note: z.string(),
  seen_at: Timestamp,
  /** Whether the log still contains it. */
  is_in_log: z.boolean(),
  /** The contradictions that it reports. */
  contradictions: z.int(),
  last_contradiction: z.object({ reason: ContradictionReason, at: Timestamp }).nullable(),
});

const WatcherList = listOf('watchers', WatcherView);

export interface WatchRoutesDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  views: LogViews;
  places: Pick<ReadingPlaces, 'requireReader'>;
}

export const watchRoutes =
  ({ db, views, places }: WatchRoutesDeps): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/api/v1/data-planes/:deployment_id/log',
      {
        config: { guard: 'data-plane' },
        logLevel: 'warn',
        schema: {
          summary: 'The newest checkpoint of the log, and the proof that it continues the kept one',
          tags: ['data planes'],
          params: z.object({ deployment_id: GivenId }),
          querystring: HeldQuery,
          response: { 200: LogView, 404: ErrorBody, 409: ErrorBody },
        },
      },
      async (request) => {
        const { deployment_id: deploymentId } = request.params;
        const { tenantId, deploymentId: bound } = request.dataPlane;
        if (bound !== null && bound !== deploymentId) throw new AppError('DATA_PLANE_NOT_FOUND');
        if (bound === null) await places.requireReader(request.scope, deploymentId);
        return views.read(tenantId, request.query);
      },
    );

    app.get(
      '/api/v1/evidence/watchers',
      {
        config: { guard: 'admin', use: 'read' },
        schema: {
          summary: 'The checkpoints of the log that data planes keep, the highest first',
          description:
            'A data plane that the same operator runs is no independent witness: it shows a log that was rewritten behind its back, not one that its operator keeps twice.',
          tags: ['evidence'],
          querystring: z.object(pageQuery({ default: 100, max: 1000 })),
          response: { 200: WatcherList },
        },
      },
      ({ scope, query }) =>
        db.inTenant(scope, async (tx) => {
          const { watches, total } = await watchStore(tx).list(query);
          const isInLog = await createLogLookup(tx);
          const watchers: z.infer<typeof WatcherView>[] = [];
          for (const watch of watches) watchers.push(toView(watch, await isInLog(watch)));
          return { watchers, total };
        }),
    );
  };

/** Data planes keep the same few sizes, so each root is read only once. */
async function createLogLookup(tx: TenantTransaction) {
  const store = logStore(tx);
  const head = await store.findHead();
  const roots = new Map<number, string>();
  return async ({ epoch, size, root }: LogWatch): Promise<boolean> => {
    if (epoch > head.epoch || size > head.size) return false;
    const known = roots.get(size) ?? (await whereWhole(store.readRoot(size)));
    if (known !== undefined) roots.set(size, known);
    return known === root;
  };
}

function toView(watch: LogWatch, isInLog: boolean): z.infer<typeof WatcherView> {
  const { deploymentId, label, epoch, size, root, note, seenAt, reported } = watch;
  return {
    deployment_id: deploymentId,
    label,
    log_epoch: epoch,
    size,
    root,
    note,
    seen_at: seenAt.toISOString(),
    is_in_log: isInLog,
    contradictions: reported?.contradictions ?? 0,
    last_contradiction:
      reported?.reason && reported.at ? { reason: reported.reason, at: reported.at } : null,
  };
}
