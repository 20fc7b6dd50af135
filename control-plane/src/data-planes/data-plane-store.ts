import { Heartbeat } from '@governance/shared/channels';
import type { TenantTransaction } from '../platform/tenant-scope.ts';
import type { DataPlane } from './data-plane.ts';

type Row = Awaited<ReturnType<TenantTransaction['db']['dataPlane']['findFirstOrThrow']>>;

/** What a data plane says of itself. */
export type DataPlaneDescription = Pick<
  DataPlane,
  'label' | 'region' | 'version' | 'signingKey' | 'sealingKey'
>;

export function dataPlaneStore({ db, scope: { tenantId } }: TenantTransaction) {
  const at = (deploymentId: string) => ({ tenantId_deploymentId: { tenantId, deploymentId } });
  return {
    /** Lets one registration of the tenant at a time look and then write. */
    lockRegistrations: async (): Promise<void> => {
      await db.$queryRaw`
        SELECT pg_advisory_xact_lock(hashtextextended(${`data-planes/${tenantId}`}, 0))::text`;
    },

    /** @param x the public key's coordinate, base64url */
    findBySigningKey: async (x: string): Promise<DataPlane | undefined> => {
      const [found] = await db.$queryRaw<{ id: string }[]>`
        SELECT deployment_id AS id FROM data_planes
        WHERE tenant_id = ${tenantId}::uuid AND signing_key::json ->> 'x' = ${x}`;
      if (!found) return undefined;
      return toDataPlane(await db.dataPlane.findUniqueOrThrow({ where: at(found.id) }));
    },

    create: async (deploymentId: string, description: DataPlaneDescription, now: Date) => {
      const times = { createdAt: now, updatedAt: now };
      await db.dataPlane.create({ data: { tenantId, deploymentId, ...description, ...times } });
    },

    update: async (deploymentId: string, description: DataPlaneDescription, now: Date) => {
      await db.dataPlane.update({
        where: at(deploymentId),
        data: { ...description, updatedAt: now },
      });
    },

    /** @returns false when the tenant has no such data plane */
    recordHeartbeat: async (heartbeat: Heartbeat, now: Date): Promise<boolean> => {
      const changed = await db.$executeRaw`
        UPDATE data_planes SET last_heartbeat_at = ${now}, last_heartbeat = ${JSON.stringify(heartbeat)}
        WHERE tenant_id = ${tenantId}::uuid AND deployment_id = ${heartbeat.deployment_id}::uuid`;
      return changed > 0;
    },

    list: async (): Promise<DataPlane[]> =>
      (
        await db.dataPlane.findMany({
          where: { tenantId },
          orderBy: [{ createdAt: 'asc' }, { deploymentId: 'asc' }],
        })
      ).map(toDataPlane),

    /** Revisions of the tenant's bundles that are kept, ascending. */
    bundleRevisions: async (): Promise<number[]> =>
      (
        await db.bundle.findMany({
          where: { tenantId },
          select: { revision: true },
          orderBy: { revision: 'asc' },
        })
      ).map(({ revision }) => Number(revision)),
  };
}

function toDataPlane(row: Row): DataPlane {
  const { tenantId: _, tokenKey: __, updatedAt: ___, ...plane } = row;
  const heartbeat =
    row.lastHeartbeat === null ? null : Heartbeat.parse(JSON.parse(row.lastHeartbeat));
  return { ...plane, lastHeartbeat: heartbeat };
}
