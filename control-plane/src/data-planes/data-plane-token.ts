/**
 * Tokens of data planes. An administrator issues a *root*, bound to no deployment. A data plane
 * that registers with it gets a token of its own, the root's *child*, and renews the child before
 * it ends.
 */
import { createSecret } from '../platform/random-secret.ts';

/** A token that a data plane presents; only its SHA-256 is kept. */
export interface DataPlaneToken {
  id: string;
  label: string;
  /**
   * The one deployment it is valid for; null for a root, with which any deployment can register.
   */
  deploymentId: string | null;
  /** The root that it was derived from; null for a root. */
  rootId: string | null;
  region: string;
  createdAt: Date;
  expiresAt: Date | null;
  revokedAt: Date | null;
}

/** How long a token stays valid beside its replacement. */
export const TOKEN_OVERLAP_MS = 24 * 60 * 60 * 1000;

export const createDataPlaneSecret = () => createSecret('dpt_');

/** Whether a token is neither revoked nor expired. */
export function isLive(
  { expiresAt, revokedAt }: Pick<DataPlaneToken, 'expiresAt' | 'revokedAt'>,
  now: Date,
): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt > now);
}

/** When a child made now expires: each child gets the lifetime of its root. */
export function childExpiry(
  root: Pick<DataPlaneToken, 'createdAt' | 'expiresAt'>,
  now: Date,
): Date | null {
  if (root.expiresAt === null) return null;
  return new Date(now.getTime() + root.expiresAt.getTime() - root.createdAt.getTime());
}
