import type { SignedRotation } from '@governance/shared/evidence/evidence-keys';
import type { Actor } from '../database/tenant-scope.ts';
import type { ServiceKeyPurpose } from './key-kinds.ts';

/** The stored statement that one key succeeds another. */
export interface StoredRotation {
  /** Counts all rotations, without a gap. */
  number: number;
  purpose: ServiceKeyPurpose;
  oldKid: string;
  newKid: string;
  signed: SignedRotation;
  /** Whether the old key is revoked: nothing that it signed is accepted any more. */
  revokes: boolean;
  reason: string | null;
  actor: Pick<Actor, 'id' | 'username'>;
  requestId: string;
  rotatedAt: Date;
}

/** A rotation as stored; a damaged part is null. */
export type RecordedRotation = Omit<StoredRotation, 'purpose' | 'signed'> & {
  purpose: ServiceKeyPurpose | null;
  signed: SignedRotation | null;
};

/** Whether nothing in its row was damaged. */
export function isReadable(rotation: RecordedRotation): rotation is StoredRotation {
  const { purpose, signed, rotatedAt } = rotation;
  return purpose !== null && signed !== null && !Number.isNaN(rotatedAt.getTime());
}
