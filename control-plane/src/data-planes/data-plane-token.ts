import { createHash, randomBytes } from 'node:crypto';

/** A token that a data plane shows; only its SHA-256 is kept. */
export interface DataPlaneToken {
  id: string;
  label: string;
  /** The one deployment it is good for; null while it is bound to none. */
  deploymentId: string | null;
  region: string;
  createdAt: Date;
  expiresAt: Date | null;
  revokedAt: Date | null;
}

/** 256 random bits behind a prefix by which scanners for leaked secrets know it. */
export function createDataPlaneSecret(): { secret: string; hash: string } {
  const secret = `dpt_${randomBytes(32).toString('base64url')}`;
  return { secret, hash: createHash('sha256').update(secret).digest('hex') };
}
