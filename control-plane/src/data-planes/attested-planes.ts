/**
 * Whether data planes and their tokens are what this service registered and issued. Whoever owns the
 * database can write a key or a token's hash of his own into a row: nothing is sealed to such a key,
 * and no such token is believed (ADR 106). Proven by attested-planes.pg.test.ts.
 */
import { canonicalize } from '@governance/shared/json/canonical-json';
import type { JWK } from 'jose';
import { LRUCache } from 'lru-cache';
import { type ChangeBus, PLATFORM } from '../platform/database/change-bus.ts';
import { forEachTenant } from '../platform/database/each-tenant.ts';
import type { DataPlaneTokenOwner, Lookups } from '../platform/database/lookups.ts';
import {
  systemScope,
  type TenantDatabase,
  type TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import type { SealingTarget } from '../platform/feature.ts';
import {
  type Judge,
  ROLL_OUT_MS,
  type RowAttestations,
} from '../platform/keys/row-attestations.ts';
import type { LeaderTask } from '../platform/replicas/leader.ts';
import {
  type Adoption,
  type Attester,
  adoptRows,
  recordBeginning,
  type Takes,
  takesOf,
} from './plane-adoption.ts';
import { createPlaneAlerts, type PlaneAlertsDeps } from './plane-alerts.ts';
import {
  type Endings,
  findPlaneFaults,
  findTokenRecordFault,
  isPutBack,
  type RowFault,
  readEndings,
  withRests,
} from './plane-records.ts';
import { planeRows, type TargetRow } from './plane-rows.ts';
import { findTokenFault, planeTarget, type TokenRow, tokenTarget } from './plane-statements.ts';
import { createTokenAdoption } from './token-adoption.ts';

/** Rows of tokens that were verified, those refused, and tenants whose revocations are known. */
const KEPT = { tokens: 10_000, refused: 1_000, tenants: 1_000 };
/** Even without a word of a revocation they are read again after this. */
const ENDINGS_MS = 60 * 60 * 1000;
/** How long a token's row that was refused is not looked at again, as long as it stays as it is. */
const REFUSED_MS = 10_000;
/** How often the leader looks for a key that was revoked. */
const ATTEST_EVERY_MS = 30_000;

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
  /** After the revocation of the key that attested: attests anew, whoever is heard of or not. */
  attestAnew: LeaderTask;
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
  const refusedLately = new LRUCache<string, true>({ max: KEPT.refused, ttl: REFUSED_MS });
  /** Revoked keys of which nothing is left to be attested anew. */
  const replaced = new Set<string>();

  const forget = () => {
    verified.clear();
    endings.clear();
  };
  deps.changes.subscribe(({ tenantId, tokensRevoked }) => {
    if (tokensRevoked) endings.delete(tenantId);
    if (tenantId === PLATFORM) forget();
  }, forget);

  /** Counted from the start alone: whoever owns the database can announce anything. */
  const takes = () => takesOf(elapsed() < ROLL_OUT_MS);

  const prepare = async (): Promise<Attester> => ({
    attest: await attestations.prepare(),
    judge: await attestations.verifier(),
  });

  const adopt = async (
    tenantId: string,
    which: Pick<Adoption, 'isStart' | 'tokenIds'>,
  ): Promise<void> => {
    const by = await prepare();
    const adoption = { takes: takes(), now: deps.now(), ...which };
    const told = await db.inTenant(systemScope(tenantId), (tx) => adoptRows(tx, by, adoption));
    alerts.doubted(tenantId, told);
  };

  const adoptTokens = createTokenAdoption(({ tenantId, tokenIds }) =>
    adopt(tenantId, { tokenIds }),
  );

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
    const content = contentOf(tenantId, token);
    if (verified.has(content)) return undefined;
    const fault = findTokenFault(tenantId, token, await attestations.verifier());
    if (!fault) verified.set(content, true);
    return fault;
  }

  /** Looks again, after what can be done for a token: another replica may have changed something. */
  async function findFaultAgain(
    tenantId: string,
    before: TokenRow,
    fault: RowFault,
  ): Promise<RowFault | 'revoked' | undefined> {
    // It may be attested by a key that is not known here yet.
    if (fault === 'not_attested' && before.attestation !== null) attestations.forget();
    if (takes()(fault)) await adoptTokens(tenantId, before.id);
    const { tokenHash } = before;
    const again = await lookups.findDataPlaneToken(tokenHash);
    if (again?.tenantId !== tenantId) return 'revoked';
    if (again.revokedAt && !before.revokedAt) return 'revoked';
    const { tenantId: _, ...row } = again;
    return findFault(tenantId, { ...row, tokenHash });
  }

  const prepareTargets = async (): Promise<FindTargets> => {
    const judge = await attestations.verifier();
    return async (tx) => {
      const rows = await planeRows(tx).readTargets();
      const faults = await findTargetFaults(tx, rows, { judge, takes: takes() });
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
      const token = { ...owner, tokenHash };
      const fault = await findFault(tenantId, token);
      if (!fault) return true;
      const content = contentOf(tenantId, token);
      if (refusedLately.has(content)) return false;
      const left = await findFaultAgain(tenantId, token, fault);
      if (left === undefined) return true;
      if (left === 'revoked') return false;
      refusedLately.set(content, true);
      alerts.refused(tenantId, { target: tokenTarget(token.id), fault: left });
      return false;
    },

    isGenuineRoot: async (tx, id, judge) => {
      const token = await planeRows(tx).findToken(id);
      return token !== undefined && !findTokenFault(tx.scope.tenantId, token, judge);
    },

    adoptAll: async () => {
      const { signal } = new AbortController();
      await forEachTenant(db, signal, (tenantId) => adopt(tenantId, { isStart: true }));
    },

    attestAnew: {
      name: 'plane_attestations',
      everyMs: ATTEST_EVERY_MS,
      run: async (signal) => {
        const revoked = await attestations.listRevoked();
        if (revoked.every((kid) => replaced.has(kid))) return;
        await forEachTenant(db, signal, (tenantId) => adopt(tenantId, {}));
        if (!signal.aborted) for (const kid of revoked) replaced.add(kid);
      },
    },

    begin: (tx) => recordBeginning(tx, { data_planes: 0, tokens: 0 }),
  };
}

/** What was verified, or refused, is known again by the whole content of its row. */
const contentOf = (tenantId: string, token: TokenRow): string =>
  canonicalize({ tenantId, ...token, ...timesOf(token) });

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
  { judge, takes }: { judge: Judge; takes: Takes },
): Promise<TargetFaults> {
  const found: TargetFaults = { refused: new Map(), doubted: [] };
  const faults = await findPlaneFaults(tx, rows, judge);
  const ended = await readEndings(tx);
  for await (const { deploymentId, token } of withRests(rows)) {
    const own = faults.get(deploymentId);
    // An older replica registers without an attestation, and its record agrees.
    const fault = ended.has(planeTarget(deploymentId)) ? 'put_back' : own;
    const isTaken = fault !== undefined && takes(fault);
    const tokenFault = token && (await judgeToken(tx, token, { ended, judge, takes }));
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
  by: { ended: Endings; judge: Judge; takes: Takes },
): Promise<RowFault | undefined> {
  if (isPutBack(by.ended, token)) return 'put_back';
  const fault = findTokenFault(tx.scope.tenantId, token, by.judge);
  if (!fault || fault === 'key_revoked') return undefined;
  return by.takes(fault) ? findTokenRecordFault(tx, token) : fault;
}
