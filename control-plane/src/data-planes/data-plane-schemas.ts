import { DeploymentName, StreamReport } from '@governance/shared/channel/channels';
import { GivenId, Text } from '@governance/shared/text';
import { z } from 'zod';
import { listOf, Name, pageQuery } from '../platform/http/schemas.ts';
import type { DataPlaneReport } from './data-plane-service.ts';
import type { DataPlaneToken } from './data-plane-token.ts';
import type { UnregisteredPlane } from './unregistered-plane-store.ts';

export const TokenParams = z.object({ id: GivenId });
export const DeploymentParams = z.object({ deployment_id: GivenId });
/** Chosen freely by senders that never registered. */
export const HeartbeatParams = z.object({ deployment_id: DeploymentName });

export const TokenQuery = z.object(pageQuery({ default: 200, max: 1000 }));

/** Without a limit, all that may be active and many that were. */
const MAX_LISTED = 10_000;
export const DataPlaneQuery = z.object(pageQuery({ default: MAX_LISTED, max: MAX_LISTED }));

const MAX_DAYS = 3650;

export const NewTokenBody = z.strictObject({
  label: Name,
  region: Text.trim().max(100).default(''),
  /** One year unless given, since a token that never expires would be forgotten. */
  expires_days: z.int().min(1).max(MAX_DAYS).default(365),
});

const token = {
  id: z.string(),
  label: z.string(),
  tenant_id: z.string(),
  /** Null for an issued token; `root_id` names the issued token behind a deployment's token. */
  deployment_id: z.string().nullable(),
  root_id: z.string().nullable(),
  region: z.string(),
  created_at: z.string(),
  expires_at: z.string().nullable(),
  revoked_at: z.string().nullable(),
};

const TokenView = z.object(token).meta({ id: 'DataPlaneToken' });
export const TokenList = listOf('tokens', TokenView);

/** The plaintext, shown only at creation. */
export const IssuedToken = z.object({ ...token, token: z.string() });

const DataPlaneView = z
  .object({
    deployment_id: z.string(),
    label: z.string(),
    region: z.string(),
    version: z.string(),
    /**
     * `silent`: three heartbeats missed; `registered`: none came yet; `revoked`: its tokens were;
     * `forked`: two writers used its key; `unregistered`: it sends heartbeats with the issued
     * token, never registered, and its reports are ignored.
     */
    status: z.enum(['online', 'silent', 'registered', 'revoked', 'forked', 'unregistered']),
    created_at: z.string(),
    last_heartbeat_at: z.string().nullable(),
    opa_bundle_version: z.string().nullable(),
    /** `opa_bundle_version` as a number. */
    bundle_revision: z.int().nullable(),
    /** The number of bundles newer than the one it uses. */
    bundles_behind: z.int().nullable(),
    /** When it last read its feed, its lag in entries, and its backlog. */
    feed_read_at: z.string().nullable(),
    feed_lag: z.int().nullable(),
    backlog: z.int().nullable(),
    /** How its records arrive; null when it does not report that. */
    stream: StreamReport.nullable(),
    active_agent_count: z.int().nullable(),
    proxy_rpm_1m: z.number().nullable(),
    escalations_pending: z.int().nullable(),
    uptime_seconds: z.number().nullable(),
  })
  .meta({ id: 'DataPlane' });

export const DataPlaneList = listOf('data_planes', DataPlaneView);

export function toTokenView(tenantId: string, token: DataPlaneToken): z.input<typeof TokenView> {
  return {
    id: token.id,
    label: token.label,
    tenant_id: tenantId,
    deployment_id: token.deploymentId,
    root_id: token.rootId,
    region: token.region,
    created_at: token.createdAt.toISOString(),
    expires_at: token.expiresAt?.toISOString() ?? null,
    revoked_at: token.revokedAt?.toISOString() ?? null,
  };
}

export function toDataPlaneView(plane: DataPlaneReport): z.input<typeof DataPlaneView> {
  const beat = plane.lastHeartbeat;
  return {
    deployment_id: plane.deploymentId,
    label: plane.label,
    region: plane.region,
    version: plane.version,
    status: plane.status,
    created_at: plane.createdAt.toISOString(),
    last_heartbeat_at: plane.lastHeartbeatAt?.toISOString() ?? null,
    opa_bundle_version: beat?.opa_bundle_version ?? null,
    bundle_revision: plane.bundleRevision,
    bundles_behind: plane.bundlesBehind,
    feed_read_at: plane.feedReadAt?.toISOString() ?? null,
    feed_lag: plane.feedLag,
    backlog: plane.backlogRecords,
    stream: beat?.stream ?? null,
    active_agent_count: beat?.active_agent_count ?? null,
    proxy_rpm_1m: beat?.proxy_rpm_1m ?? null,
    escalations_pending: beat?.escalations_pending ?? null,
    uptime_seconds: beat?.uptime_seconds ?? null,
  };
}

export function toUnregisteredView(plane: UnregisteredPlane): z.input<typeof DataPlaneView> {
  const { lastHeartbeat: beat } = plane;
  return {
    deployment_id: plane.deploymentId,
    label: plane.label,
    region: plane.region,
    version: '',
    status: 'unregistered',
    created_at: plane.firstHeartbeatAt.toISOString(),
    last_heartbeat_at: plane.lastHeartbeatAt.toISOString(),
    opa_bundle_version: beat.opa_bundle_version,
    bundle_revision: null,
    bundles_behind: null,
    feed_read_at: null,
    feed_lag: null,
    backlog: null,
    stream: null,
    active_agent_count: beat.active_agent_count,
    proxy_rpm_1m: beat.proxy_rpm_1m,
    escalations_pending: beat.escalations_pending,
    uptime_seconds: beat.uptime_seconds,
  };
}
