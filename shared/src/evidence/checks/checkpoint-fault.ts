/** What is wrong with one checkpoint, for packages and for the control plane's own rows. */
import type { SignedCheckpoint } from '../checkpoint.ts';
import type { CheckName } from './check.ts';

export interface CheckpointFault {
  check: CheckName;
  detail: string;
}

/** What a checkpoint must be; omitted members are not checked. */
export interface ExpectedCheckpoint {
  size: number;
  origin?: string;
  root?: string;
  /** Whether a key that may sign checkpoints signed it. */
  isSigned?(signed: SignedCheckpoint): boolean;
}

/** @returns undefined when it is as expected */
export function findCheckpointFault(
  signed: SignedCheckpoint,
  expected: ExpectedCheckpoint,
): CheckpointFault | undefined {
  const { size, origin, root } = signed.checkpoint;
  if (size !== expected.size) {
    return {
      check: 'checkpoint.signature',
      detail: 'the checkpoint is of another size than its name',
    };
  }
  if (expected.origin !== undefined && origin !== expected.origin) {
    return { check: 'proof.binding', detail: 'the checkpoint is of another log' };
  }
  if (expected.isSigned && !expected.isSigned(signed)) {
    return {
      check: 'checkpoint.signature',
      detail: 'not signed by a known checkpoint key',
    };
  }
  if (expected.root !== undefined && root !== expected.root) {
    return {
      check: 'log.inclusion',
      detail: 'the batches do not give the root of the checkpoint',
    };
  }
  return undefined;
}
