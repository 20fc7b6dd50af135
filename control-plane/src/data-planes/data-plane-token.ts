/**
 * Tokens of data planes. An administrator issues a *root*, bound to no deployment; a data plane that
 * registers with it gets one of its own, the root's *child*, and renews that before it ends.
 */
import { createHash, randomBytes } from 'node:crypto';

/** A token that a data plane shows; only its SHA-256 is kept. */
export interface DataPlaneToken {
  id: string;
  label: string;
  /** The one deployment it is good for; null of a root, which registers any. */
  deploymentId: string | null;
  /** The root that it came of; null of a root. */
  rootId: string | null;
  region: string;
  createdAt: Date;
  expiresAt: Date | null;
  revokedAt: Date | null;
}

/** How long a token goes on beside the one that takes its place. */
export const TOKEN_OVERLAP_MS = 24 * 60 * 60 * 1000;

/** 256 random bits behind a prefix by which scanners for leaked secrets know it. */
export function createDataPlaneSecret(): { secret: string; hash: string } {
  const secret = `dpt_${randomBytes(32).toString('base64url')}`;
  return { secret, hash: createHash('sha256').update(secret).digest('hex') };
}

/** Whether a token is good now: neither revoked nor expired. */
export function isLive(
  { expiresAt, revokedAt }: Pick<DataPlaneToken, 'expiresAt' | 'revokedAt'>,
  now: Date,
): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt > now);
}

/** When a root's child made now ends: each lives as long as its root was issued for. */
export function childExpiry(
  root: Pick<DataPlaneToken, 'createdAt' | 'expiresAt'>,
  now: Date,
): Date | null {
  if (root.expiresAt === null) return null;
  return new Date(now.getTime() + root.expiresAt.getTime() - root.createdAt.getTime());
}
