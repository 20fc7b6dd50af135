/** A control plane's log for tests: it grows, is cut, rewritten, and shown with honest proofs. */
import { generateKeyPairSync, hash } from 'node:crypto';
import { logOrigin, signCheckpoint } from '@governance/shared/evidence/checkpoint';
import {
  type EvidenceSigner,
  type KeyEntry,
  type KeyRotation,
  type SignedLogEpoch,
  type SignedRotation,
  signEvidenceStatement,
  signRotation,
} from '@governance/shared/evidence/evidence-keys';
import type { LogView } from '@governance/shared/evidence/log-watch';
import { createMerkleTree, planConsistency } from '@governance/shared/evidence/merkle-proofs';
import { proofOf } from '@governance/shared/testing/test-evidence';

const TIME = '2026-05-04T12:00:00.000Z';

export type TestLog = ReturnType<typeof createTestLog>;

export function createTestLog(tenantId: string) {
  const makeKey = (kid: string) => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const jwk = publicKey.export({ format: 'jwk' }) as KeyEntry['jwk'];
    return { kid, key: privateKey, jwk };
  };
  let signer = makeKey('checkpoint-1');
  const entryOf = ({ kid, jwk }: typeof signer): KeyEntry => ({
    ...{ kid, purpose: 'checkpoint', jwk },
    ...{ valid_from: TIME, valid_to: null, revoked_at: null },
  });
  const keys = [entryOf(signer)];
  const rotations: SignedRotation[] = [];
  const logEpochs: SignedLogEpoch[] = [];
  let epoch = 1;
  let leaves: string[] = [];
  const rootOf = (count: number) => {
    const tree = createMerkleTree();
    for (const leaf of leaves.slice(0, count)) tree.add(leaf);
    return tree.root();
  };
  const place = (size: number) => ({ epoch, size, root: rootOf(size) });

  return {
    /** For an anchor. */
    keys,
    place: () => place(leaves.length),
    grow: (count: number, branch = 'a') => {
      for (let n = 0; n < count; n++) {
        leaves.push(hash('sha256', `${branch}/${leaves.length}`, 'hex'));
      }
    },
    /** As the owner of the database does it. */
    cut: (size: number) => {
      leaves = leaves.slice(0, size);
    },
    /** As an operator who announces a restore does it. */
    announce: () => {
      const restored = place(leaves.length);
      epoch += 1;
      logEpochs.push(
        signEvidenceStatement(signer, {
          ...{ type: 'log_epoch', v: 1, tenant_id: tenantId, epoch, time: TIME },
          ...{ restored, highest_lost: null },
        }),
      );
    },
    rotate: () => {
      const next = makeKey(`checkpoint-${keys.length + 1}`);
      const { kid, jwk } = next;
      const statement: KeyRotation = {
        ...{ type: 'key_rotation', v: 1, purpose: 'checkpoint', old_kid: signer.kid },
        ...{ new_key: { kid, jwk }, valid_from: TIME, time: TIME },
      };
      rotations.push(signRotation(statement, signer, next));
      keys.push(entryOf(next));
      signer = next;
    },
    /** The one that signs is followed by another, and was in other hands. */
    revoke(): EvidenceSigner {
      const before = signer;
      this.rotate();
      const index = keys.findIndex(({ kid }) => kid === before.kid);
      keys[index] = { ...(keys[index] as KeyEntry), revoked_at: TIME };
      return before;
    },
    /** Signs with a key of before. */
    signAs: (one: EvidenceSigner) => {
      signer = { ...signer, ...one };
    },
    /** Another key, without a statement. */
    swapKey: () => {
      signer = makeKey('checkpoint-swapped');
      keys.push(entryOf(signer));
    },
    read: async (held: { epoch: number; size: number }): Promise<LogView> => {
      const { size, root } = place(leaves.length);
      if (size === 0) {
        return { note: null, keys, rotations, log_epochs: logEpochs, consistency: null };
      }
      const isAbove = held.size > 0 && held.size <= size;
      const checkpoint = { origin: logOrigin(tenantId, epoch), size, root, time: TIME };
      return {
        note: signCheckpoint(checkpoint, signer.key),
        keys: [...keys],
        rotations: [...rotations],
        log_epochs: logEpochs.filter(({ statement }) => statement.epoch >= held.epoch),
        consistency: isAbove ? proofOf(planConsistency(held.size, size), leaves) : null,
      };
    },
  };
}
