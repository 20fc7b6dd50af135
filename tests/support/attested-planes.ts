/** What attests data planes and tokens, for tests without a control plane, and rows as if attested. */
import {
  type AttestedPlanes,
  createAttestedPlanes,
} from '@governance/control-plane/data-planes/attested-planes';
import { planeRows } from '@governance/control-plane/data-planes/plane-rows';
import {
  planeDetails,
  planeStatement,
  planeTarget,
  tokenStatement,
} from '@governance/control-plane/data-planes/plane-statements';
import type {
  TenantScope,
  TenantTransaction,
} from '@governance/control-plane/platform/database/tenant-scope';
import { createServiceKeys } from '@governance/control-plane/platform/keys/keys';
import { createMasterKey } from '@governance/control-plane/platform/keys/master-key';
import {
  type Attest,
  createRowAttestations,
} from '@governance/control-plane/platform/keys/row-attestations';
import { uuidv7 } from '@governance/shared/ids';
import { createLog } from '@governance/shared/process/log';
import { Secret } from '@governance/shared/settings';
import { Registry } from 'prom-client';
import type { TestDatabase } from './test-database.ts';

export function testAttestedPlanes(test: TestDatabase): AttestedPlanes {
  const { db, lookups, changes } = test;
  const masterKey = createMasterKey(new Secret(Buffer.alloc(32, 7)));
  const attestations = createRowAttestations(createServiceKeys({ db, masterKey, overlapMs: 0 }));
  const log = createLog({ debug: false }, { write: () => undefined });
  const registry = new Registry();
  const now = () => new Date();
  return createAttestedPlanes({ db, lookups, changes, attestations, log, registry, now });
}

/** Attests what a test wrote into a tenant's tables, as the product would have written it. */
export async function attestRows(
  { db }: Pick<TestDatabase, 'db'>,
  scope: TenantScope,
  attested: Pick<AttestedPlanes, 'prepare'>,
): Promise<void> {
  const { attest } = await attested.prepare();
  await db.inTenant(scope, async (tx) => {
    await attestPlanes(tx, attest);
    const rows = planeRows(tx);
    const tokens = (await rows.readTokens(new Date(0))).map((token) => {
      const issued = { ...token, issuedUntil: token.expiresAt };
      return [token.id, attest(tokenStatement(scope.tenantId, issued, uuidv7()))] as const;
    });
    await rows.attestTokens(new Map(tokens));
  });
}

/** The same in the transaction that wrote data planes. @param of their ids; without it, all */
export async function attestPlanes(
  tx: TenantTransaction,
  attest: Attest,
  of: readonly string[] | null = null,
): Promise<void> {
  const rows = planeRows(tx);
  const planes = (await rows.readActive(of)).map((plane) => {
    const id = uuidv7();
    const { deploymentId } = plane;
    const details = planeDetails(plane);
    tx.audit.append({
      ...{ id, action: 'data_plane_updated', target: planeTarget(deploymentId), details },
    });
    return [deploymentId, attest(planeStatement(tx.scope.tenantId, plane, id))] as const;
  });
  await rows.attestPlanes(new Map(planes));
}
