/** The wire shapes of evidence packages; the specification leaves them open. */
import { GivenId, Id, Sha256Hex, Timestamp } from '@governance/shared/text';
import { z } from 'zod';
import { listOf, pageQuery, QueryTime, queryInt } from '../../platform/http/schemas.ts';
import { MAX_VOLUMES } from './evidence-request.ts';
import type { StoredPackage } from './package-store.ts';

export const PackageParams = z.object({ id: GivenId });
export const PackageQuery = z.object(pageQuery({ default: 50, max: 100 }));
export const DownloadQuery = z.object({
  volume: queryInt({ min: 1, max: MAX_VOLUMES }).default(1).meta({ default: 1 }),
});

const Size = z.int().positive();

export const NewPackageBody = z
  .strictObject({
    from: QueryTime,
    to: QueryTime,
    agent_ids: z.array(GivenId).min(1).max(1_000).optional(),
    workflow_session_id: GivenId.optional(),
    include_payloads: z.boolean().default(false),
    /** Sizes from anchors that were fetched long ago. */
    anchor_sizes: z.array(Size).max(100).default([]),
  })
  .refine(({ from, to }) => from < to, { path: ['to'], message: 'must be later than from' });

export const PackageView = z.object({
  id: Id,
  status: z.enum(['queued', 'running', 'ready', 'failed']),
  scope: z.object({
    from: Timestamp,
    to: Timestamp,
    agent_ids: z.array(Id).nullable(),
    workflow_session_id: Id.nullable(),
    include_payloads: z.boolean(),
    kind: z.enum(['contiguous', 'selective']),
  }),
  requested_by: z.string(),
  requested_at: Timestamp,
  started_at: Timestamp.nullable(),
  finished_at: Timestamp.nullable(),
  expires_at: Timestamp,
  failure: z.string().nullable(),
  /** `total` is null until it is known. */
  progress: z.object({ volumes_done: z.int(), volumes_total: z.int().nullable() }),
  volumes: z.array(
    z.object({
      number: z.int(),
      package_id: Id,
      events: z.int(),
      size: z.int(),
      sha256: Sha256Hex,
      download: z.string(),
    }),
  ),
});
export const PackageList = listOf('packages', PackageView);

const iso = (time: Date | null) => time?.toISOString() ?? null;

export function toPackageView(given: StoredPackage): z.infer<typeof PackageView> {
  const { agentIds, workflowSessionId, volumes } = given;
  const kind = agentIds.length > 0 || workflowSessionId !== null ? 'selective' : 'contiguous';
  return {
    id: given.id,
    status: given.status,
    scope: {
      ...{ from: given.from.toISOString(), to: given.to.toISOString() },
      agent_ids: agentIds.length > 0 ? agentIds : null,
      workflow_session_id: workflowSessionId,
      ...{ include_payloads: given.includePayloads, kind },
    },
    requested_by: given.requestedBy,
    requested_at: given.requestedAt.toISOString(),
    ...{ started_at: iso(given.startedAt), finished_at: iso(given.finishedAt) },
    expires_at: given.expiresAt.toISOString(),
    failure: given.failure,
    progress: { volumes_done: volumes.length, volumes_total: given.plan?.ends.length ?? null },
    volumes: volumes.map(({ number, id, events, size, sha256 }) => ({
      ...{ number, package_id: id, events, size, sha256 },
      download: `/api/v1/evidence/packages/${given.id}/download?volume=${number}`,
    })),
  };
}
