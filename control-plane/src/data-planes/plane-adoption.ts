/**
 * Attests what an earlier version of the service wrote: all of it at the first start of this one,
 * and afterwards, while an upgrade is rolled out, what the admin records agree with. Proven by
 * attested-planes.pg.test.ts.
 */
import { uuidv7 } from '@governance/shared/ids';
import {
  type Attest,
  type Attestation,
  isUnattested,
  type Judge,
} from '../platform/row-attestations.ts';
import type { TenantTransaction } from '../platform/tenant-scope.ts';
import { dataPlaneStore } from './data-plane-store.ts';
import {
  type Endings,
  findPlaneFaults,
  findTokenRecordFault,
  hasBegun,
  isPutBack,
  type RowFault,
  readEndings,
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

/** Tokens whose records are searched at a time: each search reads some thousand records. */
const SEARCHED = 200;

/**
 * @param isStart whether the service starts: only then is what has no record taken, once
 * @returns those that are taken and to be told
 */
export async function adoptRows(
  tx: TenantTransaction,
  by: Attester,
  { isStart, now }: { isStart: boolean; now: Date },
): Promise<FoundRow[]> {
  await dataPlaneStore(tx).lockRegistrations();
  const isFirst = isStart && !(await hasBegun(tx));
  const ended = await readEndings(tx);
  const planes = await adoptPlanes(tx, by, isFirst);
  const tokens = await adoptTokens(tx, by, { isFirst, ended, now });
  if (isFirst) recordBeginning(tx, { data_planes: planes.count, tokens: tokens.count });
  return [...planes.told, ...tokens.told];
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
  isFirst: boolean,
): Promise<Adopted> {
  const rows = planeRows(tx);
  const planes = await rows.readActive();
  const faults = await findPlaneFaults(tx, planes, judge);
  const taken = planes.flatMap((plane) => {
    const fault = faults.get(plane.deploymentId);
    const isTaken = fault && (isFirst ? fault !== 'put_back' : isUnattested(fault));
    return isTaken ? [{ plane, fault }] : [];
  });
  const attested = taken.map(({ plane }) => attestPlane(tx, attest, plane));
  if (attested.length > 0) await rows.attestPlanes(new Map(attested));
  const told = taken
    .filter(({ fault }) => !isFirst || !isUnattested(fault))
    .map(({ plane, fault }) => ({ target: planeTarget(plane.deploymentId), fault }));
  return { count: taken.length, told };
}

function attestPlane(
  { audit, scope }: TenantTransaction,
  attest: Attest,
  plane: PlaneRow,
): [string, Attestation] {
  const { deploymentId } = plane;
  const recordId = uuidv7();
  audit.append({
    id: recordId,
    action: 'data_plane_attested',
    target: planeTarget(deploymentId),
    details: planeDetails(plane),
  });
  return [deploymentId, attest(planeStatement(scope.tenantId, plane, recordId))];
}

async function adoptTokens(
  tx: TenantTransaction,
  { attest, judge }: Attester,
  { isFirst, ended, now }: { isFirst: boolean; ended: Endings; now: Date },
): Promise<Adopted> {
  const rows = planeRows(tx);
  const unattested = (await rows.readTokens(now)).flatMap((token) => {
    const fault = findTokenFault(tx.scope.tenantId, token, judge);
    return fault && !isPutBack(ended, token) ? [{ token, fault }] : [];
  });
  const taken: { token: TokenRow; fault: RowFault }[] = [];
  for (const one of isFirst ? unattested : unattested.slice(0, SEARCHED)) {
    if (isFirst || (await findTokenRecordFault(tx, one.token)) === undefined) taken.push(one);
  }
  const attested = taken.map(({ token }) => attestToken(tx, attest, token));
  if (attested.length > 0) await rows.attestTokens(new Map(attested));
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
