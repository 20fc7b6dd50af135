/**
 * Attests what an earlier version of the service wrote: all of it at the first start of this one,
 * and afterwards, while an upgrade is rolled out, what the admin records agree with. Proven by
 * attested-planes.pg.test.ts.
 */
import { uuidv7 } from '@governance/shared/ids';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import {
  type Attest,
  type Attestation,
  isUnattested,
  type Judge,
} from '../platform/keys/row-attestations.ts';
import { dataPlaneStore } from './data-plane-store.ts';
import {
  type Endings,
  findPlaneFaults,
  findTokenRecordFault,
  hasBegun,
  isPutBack,
  type RowFault,
  readEndings,
  withRests,
} from './plane-records.ts';
import { planeRows } from './plane-rows.ts';
import {
  findTokenFault,
  type PlaneRow,
  planeDetails,
  planeStatement,
  planeTarget,
  type TokenRow,
  tokenDetails,
  tokenStatement,
  tokenTarget,
} from './plane-statements.ts';

export interface Attester {
  attest: Attest;
  judge: Judge;
}

/** A row that is believed, and of which it should be known where it came from. */
export interface FoundRow {
  /** `data_plane/<id>` or `data_plane_token/<id>`. */
  target: string;
  fault: RowFault;
}

/** Tokens whose records are looked for at a time; others are taken as they are used. */
const SEARCHED = 500;

/** Why a row that is not attested may be taken, if its record agrees. */
export type Takes = (fault: RowFault) => boolean;

/**
 * What this process may take: for an hour after its start what an older replica may have written,
 * and what a key attested that was revoked a short while ago.
 */
export const takesOf =
  (isRollOut: boolean): Takes =>
  (fault) =>
    fault === 'key_revoked' || (isRollOut && isUnattested(fault));

export interface Adoption {
  takes: Takes;
  now: Date;
  /** Whether the service starts: only then is what has no record taken, once. */
  isStart?: boolean;
  /** Only these tokens, with their roots and data planes; without it, all. */
  tokenIds?: readonly string[];
}

/** @returns those that are taken and to be told */
export async function adoptRows(
  tx: TenantTransaction,
  by: Attester,
  { takes, now, isStart = false, tokenIds }: Adoption,
): Promise<FoundRow[]> {
  await dataPlaneStore(tx).lockRegistrations();
  const isFirst = isStart && !(await hasBegun(tx));
  const rows = planeRows(tx);
  // At a later start none is verified that bears a signature: it is as it is shown, or attested anew.
  const isUnsigned = isStart && !isFirst;
  const tokens = await (tokenIds
    ? rows.findTokens(tokenIds)
    : rows.readTokens(now, { isUnsigned }));
  const owners = tokens.flatMap(({ deploymentId }) => deploymentId ?? []);
  const planes = await rows.readActive(tokenIds ? owners : null);
  const ended = await readEndings(tx);
  const ofPlanes = await adoptPlanes(tx, by, { planes, takes, isFirst });
  const ofTokens = await adoptTokens(tx, by, { tokens, takes, isFirst, ended });
  if (isFirst) recordBeginning(tx, { data_planes: ofPlanes.count, tokens: ofTokens.count });
  return [...ofPlanes.told, ...ofTokens.told];
}

/** From here on rows without an attestation were not written by this version. */
export function recordBeginning(
  tx: TenantTransaction,
  counts: { data_planes: number; tokens: number },
): void {
  tx.audit.append({
    action: 'data_planes_attested',
    target: 'data_planes',
    details: counts,
  });
}

interface Adopted {
  count: number;
  told: FoundRow[];
}

async function adoptPlanes(
  tx: TenantTransaction,
  { attest, judge }: Attester,
  { planes, takes, isFirst }: { planes: readonly PlaneRow[]; takes: Takes; isFirst: boolean },
): Promise<Adopted> {
  const faults = await findPlaneFaults(tx, planes, judge);
  const taken = planes.flatMap((plane) => {
    const fault = faults.get(plane.deploymentId);
    const isTaken = fault && (isFirst ? fault !== 'put_back' : takes(fault));
    return isTaken ? [{ plane, fault }] : [];
  });
  const attested = taken.map(({ plane }) => attestPlane(tx, attest, { plane, isFirst }));
  if (attested.length > 0) await planeRows(tx).attestPlanes(new Map(attested));
  const told = taken
    .filter(({ fault }) => !isFirst || !isUnattested(fault))
    .map(({ plane, fault }) => ({ target: planeTarget(plane.deploymentId), fault }));
  return { count: taken.length, told };
}

function attestPlane(
  { audit, scope }: TenantTransaction,
  attest: Attest,
  { plane, isFirst }: { plane: PlaneRow; isFirst: boolean },
): [string, Attestation] {
  const { deploymentId } = plane;
  const recordId = uuidv7();
  audit.append({
    id: recordId,
    action: 'data_plane_attested',
    target: planeTarget(deploymentId),
    // Later it may have been refused before, and missed secrets (hasMissedSecrets).
    details: { ...planeDetails(plane), first_start: isFirst },
  });
  return [deploymentId, attest(planeStatement(scope.tenantId, plane, recordId))];
}

interface Tokens {
  tokens: readonly TokenRow[];
  takes: Takes;
  isFirst: boolean;
  ended: Endings;
}

async function adoptTokens(
  tx: TenantTransaction,
  { attest, judge }: Attester,
  { tokens, takes, isFirst, ended }: Tokens,
): Promise<Adopted> {
  const unattested: { token: TokenRow; fault: RowFault }[] = [];
  for await (const token of withRests(tokens)) {
    const fault = findTokenFault(tx.scope.tenantId, token, judge);
    const isTaken = fault && (isFirst || takes(fault)) && !isPutBack(ended, token);
    if (isTaken) unattested.push({ token, fault });
  }
  // What a key of the service attested needs no record beside.
  const isVouchedFor = ({ fault }: { fault: RowFault }) => isFirst || fault === 'key_revoked';
  const taken = unattested.filter(isVouchedFor);
  for (const one of unattested.filter((other) => !isVouchedFor(other)).slice(0, SEARCHED)) {
    if ((await findTokenRecordFault(tx, one.token)) === undefined) taken.push(one);
  }
  const attested = taken.map(({ token }) => attestToken(tx, attest, token));
  if (attested.length > 0) await planeRows(tx).attestTokens(new Map(attested));
  const told = taken.map(({ token, fault }) => ({ target: tokenTarget(token.id), fault }));
  return { count: taken.length, told: isFirst ? [] : told };
}

function attestToken(
  { audit, scope }: TenantTransaction,
  attest: Attest,
  token: TokenRow,
): [string, Attestation] {
  const recordId = uuidv7();
  audit.append({
    id: recordId,
    action: 'data_plane_token_attested',
    target: tokenTarget(token.id),
    details: tokenDetails(token),
  });
  const issued = { ...token, issuedUntil: token.expiresAt };
  return [token.id, attest(tokenStatement(scope.tenantId, issued, recordId))];
}
