/**
 * Whether data planes and their tokens are what this service registered and issued. Whoever owns the
 * database can write a key or a token's hash of his own into a row: nothing is sealed to such a key,
 * and no such token is believed (ADR 106). Proven by attested-planes.pg.test.ts.
 */
import { canonicalize } from '@governance/shared/canonical-json';
import type { JWK } from 'jose';
import { LRUCache } from 'lru-cache';
import { type ChangeBus, PLATFORM } from '../platform/change-bus.ts';
import { forEachTenant } from '../platform/each-tenant.ts';
import type { SealingTarget } from '../platform/feature.ts';
import type { DataPlaneTokenOwner, Lookups } from '../platform/lookups.ts';
import {
  isUnattested,
  type Judge,
  ROLL_OUT_MS,
  type RowAttestations,
} from '../platform/row-attestations.ts';
import {
  systemScope,
  type TenantDatabase,
  type TenantTransaction,
} from '../platform/tenant-scope.ts';
import { type Attester, adoptRows, recordBeginning } from './plane-adoption.ts';
import { createPlaneAlerts, type PlaneAlertsDeps } from './plane-alerts.ts';
import {
  type Endings,
  findPlaneFaults,
  findTokenRecordFault,
  isPutBack,
  type RowFault,
  readEndings,
} from './plane-records.ts';
import { planeRows, type TargetRow } from './plane-rows.ts';
import { findTokenFault, planeTarget, type TokenRow, tokenTarget } from './plane-statements.ts';

/** Rows of tokens that were verified, and tenants whose revocations are known. */
const KEPT = { tokens: 10_000, tenants: 1_000 };
/** Even without a word of a revocation they are read again after this. */
const ENDINGS_MS = 60 * 60 * 1000;
/** A tenant's rows are looked at for what can be taken no more often. */
const ADOPT_EVERY_MS = 2_000;

export interface AttestedPlanesDeps extends PlaneAlertsDeps {
  db: Pick<TenantDatabase, 'inTenant' | 'inPlatform'>;
  attestations: RowAttestations;
  lookups: Pick<Lookups, 'findDataPlaneToken'>;
  changes: Pick<ChangeBus, 'subscribe'>;
  /** Milliseconds since the start. */
  elapsed?: () => number;
}

/** The data planes of a tenant to seal for. */
export type FindTargets = (tx: TenantTransaction) => Promise<SealingTarget[]>;

export interface AttestedPlanes {
  /** Reads the keys, before the transaction: inside it would take a second connection. */
  prepare(): Promise<Attester>;
  /** The same, for those who seal. */
  prepareTargets(): Promise<FindTargets>;
  /** Whether a token is one that this service issued, and that nobody revoked. */
  isGenuine(token: DataPlaneTokenOwner, tokenHash: string): Promise<boolean>;
  /** The same, of one that another derives from. */
  isGenuineRoot(tx: TenantTransaction, id: string, judge: Judge): Promise<boolean>;
  /** At each start: attests what earlier versions wrote. */
  adoptAll(): Promise<void>;
  /** For a new tenant: whatever it has was written by this version. */
  begin(tx: TenantTransaction): void;
}

export function createAttestedPlanes(deps: AttestedPlanesDeps): AttestedPlanes {
  const { db, attestations, lookups } = deps;
  const began = performance.now();
  const elapsed = deps.elapsed ?? (() => performance.now() - began);
  const alerts = createPlaneAlerts(deps);
  const verified = new LRUCache<string, true>({ max: KEPT.tokens });
  const endings = new LRUCache<string, Promise<Endings>>({ max: KEPT.tenants, ttl: ENDINGS_MS });
  const adopting = new LRUCache<string, Promise<void>>({ max: KEPT.tenants, ttl: ADOPT_EVERY_MS });
  let leniently = 0;

  const forget = () => {
    verified.clear();
    endings.clear();
  };
  deps.changes.subscribe(({ tenantId, tokensRevoked }) => {
    if (tokensRevoked) endings.delete(tenantId);
    if (tenantId !== PLATFORM) return;
    forget();
    // A key that was revoked attests nothing any more: for an hour rows are attested anew.
    leniently = elapsed();
  }, forget);

  const isRollOut = () => elapsed() - leniently < ROLL_OUT_MS;

  const prepare = async (): Promise<Attester> => ({
    attest: await attestations.prepare(),
    judge: await attestations.verifier(),
  });

  const adopt = async (tenantId: string, isStart: boolean): Promise<void> => {
    const by = await prepare();
    const now = deps.now();
    const told = await db.inTenant(systemScope(tenantId), (tx) =>
      adoptRows(tx, by, { isStart, now }),
    );
    alerts.doubted(tenantId, told);
  };

  /** Those who ask at the same time, or soon after, share it. */
  function adoptOnce(tenantId: string): Promise<void> {
    const known = adopting.get(tenantId);
    if (known) return known;
    const adopted = adopt(tenantId, false);
    adopting.set(tenantId, adopted);
    return adopted;
  }

  function knownEndings(tenantId: string): Promise<Endings> {
    const known = endings.get(tenantId);
    if (known) return known;
    const read = db.inTenant(systemScope(tenantId), readEndings);
    endings.set(tenantId, read);
    read.catch(() => {
      if (endings.peek(tenantId) === read) endings.delete(tenantId);
    });
    return read;
  }

  async function findFault(tenantId: string, token: TokenRow): Promise<RowFault | undefined> {
    if (isPutBack(await knownEndings(tenantId), token)) return 'put_back';
    const content = canonicalize({ tenantId, ...token, ...timesOf(token) });
    if (verified.has(content)) return undefined;
    const fault = findTokenFault(tenantId, token, await attestations.verifier());
    if (!fault) verified.set(content, true);
    return fault;
  }

  const prepareTargets = async (): Promise<FindTargets> => {
    const judge = await attestations.verifier();
    return async (tx) => {
      const rows = await planeRows(tx).readTargets();
      const faults = await findTargetFaults(tx, rows, judge, isRollOut());
      for (const { target, fault } of faults.refused.values()) {
        alerts.refused(tx.scope.tenantId, { target, fault });
      }
      alerts.doubted(tx.scope.tenantId, faults.doubted);
      return rows
        .filter(({ deploymentId }) => !faults.refused.has(deploymentId))
        .map(({ deploymentId, sealingKey }) => ({
          deploymentId,
          sealingKey: JSON.parse(sealingKey) as JWK,
        }));
    };
  };

  return {
    prepare,
    prepareTargets,

    isGenuine: async ({ tenantId, ...owner }, tokenHash) => {
      const fault = await findFault(tenantId, { ...owner, tokenHash });
      if (!fault) return true;
      if (isUnattested(fault) && isRollOut()) await adoptOnce(tenantId);
      // It may have been revoked, or attested, since it was read.
      const again = await lookups.findDataPlaneToken(tokenHash);
      if (again?.tenantId !== tenantId) return false;
      if (again.revokedAt && !owner.revokedAt) return false;
      const { tenantId: _, ...row } = again;
      const left = await findFault(tenantId, { ...row, tokenHash });
      if (left) alerts.refused(tenantId, { target: tokenTarget(row.id), fault: left });
      return left === undefined;
    },

    isGenuineRoot: async (tx, id, judge) => {
      const token = await planeRows(tx).findToken(id);
      return token !== undefined && !findTokenFault(tx.scope.tenantId, token, judge);
    },

    adoptAll: () =>
      forEachTenant(db, new AbortController().signal, (tenantId) => adopt(tenantId, true)),

    begin: (tx) => recordBeginning(tx, { data_planes: 0, tokens: 0 }),
  };
}

/** Dates as text: the content of a row is compared by it. */
const timesOf = ({ createdAt, expiresAt, issuedUntil, revokedAt }: TokenRow) => ({
  createdAt: createdAt.toISOString(),
  expiresAt: expiresAt?.toISOString() ?? null,
  issuedUntil: issuedUntil?.toISOString() ?? null,
  revokedAt: revokedAt?.toISOString() ?? null,
});

interface TargetFaults {
  refused: Map<string, { target: string; fault: RowFault }>;
  doubted: { target: string; fault: RowFault }[];
}

/** What is wrong with data planes, or with the token by which each still counts. */
async function findTargetFaults(
  tx: TenantTransaction,
  rows: readonly TargetRow[],
  judge: Judge,
  isRollOut: boolean,
): Promise<TargetFaults> {
  const found: TargetFaults = { refused: new Map(), doubted: [] };
  const faults = await findPlaneFaults(tx, rows, judge);
  const ended = await readEndings(tx);
  for (const { deploymentId, token } of rows) {
    const own = faults.get(deploymentId);
    // An older replica registers without an attestation, and its record agrees.
    const fault = ended.has(planeTarget(deploymentId)) ? 'put_back' : own;
    const isTaken = isRollOut && fault !== undefined && isUnattested(fault);
    const tokenFault = token && (await judgeToken(tx, token, { ended, judge, isRollOut }));
    if (fault && !isTaken)
      found.refused.set(deploymentId, { target: planeTarget(deploymentId), fault });
    else if (token && tokenFault) {
      found.refused.set(deploymentId, { target: tokenTarget(token.id), fault: tokenFault });
    } else if (fault) found.doubted.push({ target: planeTarget(deploymentId), fault });
  }
  return found;
}

async function judgeToken(
  tx: TenantTransaction,
  token: TokenRow,
  by: { ended: Endings; judge: Judge; isRollOut: boolean },
): Promise<RowFault | undefined> {
  if (isPutBack(by.ended, token)) return 'put_back';
  const fault = findTokenFault(tx.scope.tenantId, token, by.judge);
  return fault && by.isRollOut ? findTokenRecordFault(tx, token) : fault;
}
