/**
 * What makes a data plane, and a token of one, as the service attests it in the row (ADR 106). Left
 * out is what a row may lose without harm: a standing that ends it, and a token's earlier end.
 */
import { hash } from 'node:crypto';
import { canonicalize } from '@governance/shared/json/canonical-json';
import type { DataPlaneTokenOwner } from '../platform/database/lookups.ts';
import {
  type AttestationFault,
  attestationFault,
  type Judge,
  type RowStatement,
} from '../platform/keys/row-attestations.ts';

interface Kept {
  recordId: string | null;
  attestation: string | null;
}

/** A data plane's row, as far as secrets are sealed by it. Keys are public JWKs as JSON. */
export interface PlaneRow extends Kept {
  deploymentId: string;
  signingKey: string;
  sealingKey: string;
  tokenKey: string | null;
  /** Without any it is the local one, which needs none: the last row of one that has some counts. */
  hasTokens: boolean;
}

/** A token's row, as far as it is believed. */
export interface TokenRow extends Omit<DataPlaneTokenOwner, 'tenantId'> {
  tokenHash: string;
}

type Plane = Omit<PlaneRow, keyof Kept>;
type Token = Omit<TokenRow, keyof Kept | 'expiresAt' | 'revokedAt'>;

export const planeTarget = (deploymentId: string) => `data_plane/${deploymentId}`;
export const tokenTarget = (id: string) => `data_plane_token/${id}`;

export function planeStatement(tenantId: string, plane: Plane, recordId: string): RowStatement {
  return { tenantId, about: planeTarget(plane.deploymentId), states: statesOf(plane), recordId };
}

export function tokenStatement(tenantId: string, token: Token, recordId: string): RowStatement {
  const issued_until = token.issuedUntil?.toISOString() ?? null;
  const states = { ...identityOf(token), issued_until };
  return { tenantId, about: tokenTarget(token.id), states, recordId };
}

/** What records say beside the attested keys: whoever compares needs the rest. */
export const planeDetails = (plane: Plane) => ({
  signing_key: coordinateOf(plane.signingKey),
  sealing_key: coordinateOf(plane.sealingKey),
  fingerprint: fingerprintOf(statesOf(plane)),
});

export const tokenDetails = (token: Omit<Token, 'issuedUntil'> & Pick<TokenRow, 'expiresAt'>) => ({
  deployment_id: token.deploymentId,
  root_id: token.rootId,
  expires_at: token.expiresAt?.toISOString() ?? null,
  fingerprint: fingerprintOf(identityOf(token)),
});

/** Short, and of no use to whoever looks for the hash of a token. */
const fingerprintOf = (states: Record<string, unknown>): string =>
  hash('sha256', canonicalize(states)).slice(0, 32);

const statesOf = ({ signingKey, sealingKey, tokenKey, hasTokens }: Plane) => ({
  signing_key: signingKey,
  sealing_key: sealingKey,
  token_key: tokenKey,
  has_tokens: hasTokens,
});

/** What a token is for good; its end is not among it. */
const identityOf = ({
  tokenHash,
  deploymentId,
  rootId,
  region,
  createdAt,
}: Omit<Token, 'issuedUntil'>) => ({
  token_hash: tokenHash,
  deployment_id: deploymentId,
  root_id: rootId,
  region,
  created_at: createdAt.toISOString(),
});

/** Whether this service issued a token as it stands; not whether it was revoked since. */
export function findTokenFault(
  tenantId: string,
  token: TokenRow,
  judge: Judge,
): AttestationFault | undefined {
  if (token.recordId === null) return 'not_attested';
  const { expiresAt, issuedUntil } = token;
  const isProlonged = issuedUntil !== null && (expiresAt === null || expiresAt > issuedUntil);
  if (isProlonged) return 'attestation_wrong';
  return attestationFault(judge, tokenStatement(tenantId, token, token.recordId), token);
}

/** The coordinate of a public key, as records name it; undefined where the row has no key. */
function coordinateOf(jwk: string): string | undefined {
  try {
    const { x } = JSON.parse(jwk) as { x?: unknown };
    return typeof x === 'string' ? x : undefined;
  } catch {
    return undefined;
  }
}
