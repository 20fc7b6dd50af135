import type { SignedRotation } from '@governance/shared/evidence/evidence-keys';
import type { ServiceKeyPurpose } from './key-kinds.ts';
import type { Actor } from './tenant-scope.ts';

/** That a key follows another. */
export interface StoredRotation {
  /** Counts all rotations, without a gap. */
  number: number;
  purpose: ServiceKeyPurpose;
  oldKid: string;
  newKid: string;
  signed: SignedRotation;
  /** Whether the key before is not accepted any more. */
  revokes: boolean;
  reason: string | null;
  actor: Pick<Actor, 'id' | 'username'>;
  requestId: string;
  rotatedAt: Date;
}
