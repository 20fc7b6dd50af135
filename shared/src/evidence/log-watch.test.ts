import { generateKeyPairSync, hash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { proofOf } from '../testing/test-evidence.ts';
import { logOrigin, signCheckpoint } from './checkpoint.ts';
import {
  type KeyEntry,
  type SignedLogEpoch,
  type SignedRotation,
  signEvidenceStatement,
  signRotation,
} from './evidence-keys.ts';
import { judgeLogView, LogView, type SeenCheckpoint, type WatchTrust } from './log-watch.ts';
import { createMerkleTree, planConsistency } from './merkle-proofs.ts';

const TENANT = '0190aaaa-0000-7000-8000-000000000001';
const OTHER = '0190aaaa-0000-7000-8000-000000000002';
const TIME = '2026-05-04T12:00:00.000Z';

const aKey = (kid: string) => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const jwk = publicKey.export({ format: 'jwk' }) as KeyEntry['jwk'];
  const entry: KeyEntry = {
    ...{ kid, purpose: 'checkpoint' as const, jwk },
    ...{ valid_from: TIME, valid_to: null, revoked_at: null },
  };
  return { kid, key: privateKey, entry };
};
const key = aKey('first');
const next = aKey('next');

/** A log's leaves, by a name of their branch. */
const leavesOf = (count: number, branch = 'a', from = 0) =>
  Array.from({ length: count }, (_, n) => hash('sha256', `${n < from ? 'a' : branch}/${n}`, 'hex'));

function rootOf(leaves: readonly string[]): string {
  const tree = createMerkleTree();
  for (const leaf of leaves) tree.add(leaf);
  return tree.root();
}

function seenAt(
  leaves: readonly string[],
  { epoch = 1, tenantId = TENANT, signer = key } = {},
): SeenCheckpoint {
  const [size, root] = [leaves.length, rootOf(leaves)];
  const note = signCheckpoint(
    { origin: logOrigin(tenantId, epoch), size, root, time: TIME },
    signer.key,
  );
  return { epoch, size, root, note };
}

const trust: WatchTrust = { tenantId: TENANT, keys: [key.entry], rotations: [], logEpochs: [] };

function viewOf(
  told: SeenCheckpoint | null,
  given: Partial<LogView> & { leaves?: readonly string[]; from?: number } = {},
): LogView {
  const { leaves, from, ...rest } = given;
  const isProven = leaves !== undefined && from !== undefined && from <= leaves.length;
  return LogView.parse({
    note: told?.note ?? null,
    keys: [key.entry],
    rotations: [],
    log_epochs: [],
    consistency: isProven ? proofOf(planConsistency(from, leaves.length), leaves) : null,
    ...rest,
  });
}

const beginEpoch = (
  epoch: number,
  restored: SeenCheckpoint,
  { tenantId = TENANT, signer = key } = {},
): SignedLogEpoch =>
  signEvidenceStatement(signer, {
    ...{ type: 'log_epoch' as const, v: 1 as const, tenant_id: tenantId, epoch, time: TIME },
    restored: { epoch: restored.epoch, size: restored.size, root: restored.root },
    highest_lost: null,
  });

const reasonOf = (...given: Parameters<typeof judgeLogView>) => {
  const found = judgeLogView(...given);
  return found.kind === 'contradicts' ? found.reason : found.kind;
};

describe('a log that only grew', () => {
  it('never contradicts what was seen of it, whatever the sizes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 70 }), fc.nat(70), (before, more) => {
        const leaves = leavesOf(before + more);
        const known = seenAt(leaves.slice(0, before));
        const view = viewOf(seenAt(leaves), { leaves, from: before });
        expect(reasonOf(known, trust, view)).toBe(more === 0 ? 'same' : 'continues');
      }),
    );
  });

  it('is empty before the first checkpoint, and begins with any', () => {
    expect(reasonOf(null, trust, viewOf(null))).toBe('empty');
    expect(reasonOf(null, trust, viewOf(seenAt(leavesOf(3))))).toBe('continues');
  });

  it('may continue under a key that follows by a rotation', () => {
    const leaves = leavesOf(9);
    const told = seenAt(leaves, { signer: next });
    const rotation: SignedRotation = signRotation(
      {
        ...{ type: 'key_rotation', v: 1, purpose: 'checkpoint', old_kid: 'first' },
        new_key: { kid: 'next', jwk: next.entry.jwk },
        ...{ valid_from: TIME, time: TIME },
      },
      key,
      next,
    );
    const known = seenAt(leaves.slice(0, 4));
    const view = viewOf(told, { leaves, from: 4, rotations: [rotation] });
    expect(reasonOf(known, trust, view)).toBe('continues');
    expect(reasonOf(known, trust, { ...view, rotations: [] })).toBe('key_unknown');
    // That the view lists the key says nothing.
    const listed = { ...view, rotations: [], keys: [key.entry, next.entry] };
    expect(reasonOf(known, trust, listed)).toBe('key_unknown');
    const forged = signRotation(rotation.statement, { ...next, kid: 'first' }, next);
    expect(reasonOf(known, trust, { ...view, rotations: [forged] })).toBe('key_unknown');
    // The last word of a key that was revoked then counts, and no other signature of it.
    const revoked = { ...key.entry, valid_to: TIME, revoked_at: TIME };
    expect(reasonOf(known, trust, { ...view, keys: [revoked, next.entry] })).toBe('continues');
    const bySame = viewOf(seenAt(leaves), { leaves, from: 4, rotations: [rotation] });
    expect(reasonOf(known, trust, bySame)).toBe('continues');
    expect(reasonOf(known, trust, { ...bySame, keys: [revoked] })).toBe('key_unknown');
    const kept = { ...trust, revoked: [revoked] };
    expect(reasonOf(known, kept, bySame)).toBe('key_unknown');
    expect(reasonOf(known, kept, view)).toBe('continues');
  });

  it('may begin an epoch behind what was seen', () => {
    const restored = leavesOf(6);
    const leaves = leavesOf(9, 'b', 6);
    const begun = beginEpoch(2, seenAt(restored));
    const view = viewOf(seenAt(leaves, { epoch: 2 }), { leaves, from: 5, log_epochs: [begun] });
    expect(reasonOf(seenAt(leavesOf(5)), trust, view)).toBe('continues');
  });
});

describe('a log that was restored, as announced', () => {
  const leaves = leavesOf(20);
  const known = seenAt(leaves.slice(0, 12));

  it('continues where an epoch number is left out', () => {
    const log_epochs = [beginEpoch(3, known)];
    const view = viewOf(seenAt(leaves, { epoch: 3 }), { leaves, from: 12, log_epochs });
    expect(reasonOf(known, trust, view)).toBe('continues');
  });

  it('continues where every lost leaf came back the same, and not without a proof of it', () => {
    const log_epochs = [beginEpoch(2, seenAt(leaves.slice(0, 7)))];
    const view = viewOf(seenAt(leaves, { epoch: 2 }), { leaves, from: 12, log_epochs });
    expect(reasonOf(known, trust, view)).toBe('continues');
    expect(reasonOf(known, trust, { ...view, consistency: null })).toBe('epoch_cut');
  });

  it('holds each place at which an epoch began, also of a size that was not seen', () => {
    const at = (size: number, branch?: string) => seenAt(leavesOf(size, branch, 13));
    const proofFrom = (size: number) => proofOf(planConsistency(size, leaves.length), leaves);
    const told = seenAt(leaves, { epoch: 3 });
    const begun = (second: number, branch?: string) => [
      beginEpoch(2, at(15)),
      beginEpoch(3, { ...at(second, branch), epoch: 2 }),
    ];
    const view = viewOf(told, { leaves, from: 12, log_epochs: begun(17) });
    const restored = [
      { epoch: 2, path: proofFrom(15) },
      { epoch: 3, path: proofFrom(17) },
    ];
    expect(reasonOf(known, trust, { ...view, restored })).toBe('continues');
    expect(reasonOf(known, trust, { ...view, restored: restored.slice(1) })).toBe('not_consistent');
    const other = { ...view, log_epochs: begun(17, 'b') };
    expect(reasonOf(known, trust, { ...other, restored })).toBe('not_consistent');
    // What a later restore lost of an earlier one is not there.
    const lower = { ...view, log_epochs: begun(14) };
    const left = [{ epoch: 3, path: proofFrom(14) }];
    expect(reasonOf(known, trust, { ...lower, restored: left })).toBe('continues');
    // An earlier control plane proves none.
    expect(reasonOf(known, trust, other)).toBe('continues');
  });
});

describe('a log that was changed', () => {
  const leaves = leavesOf(20);
  const forked = leavesOf(20, 'b', 11);
  const known = seenAt(leaves.slice(0, 12));

  it('contradicts what was seen, wherever an earlier leaf was changed', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.nat(10), fc.nat(59), (before, more, at) => {
        const seen = seenAt(leavesOf(before));
        const rewritten = leavesOf(before + more, 'b', at % before);
        const view = viewOf(seenAt(rewritten), { leaves: rewritten, from: before });
        expect(['root_differs', 'not_consistent']).toContain(reasonOf(seen, trust, view));
      }),
    );
  });

  it.each<[string, string, LogView, SeenCheckpoint?]>([
    ['smaller', 'went_back', viewOf(seenAt(leaves.slice(0, 11)))],
    ['gone', 'went_back', viewOf(null)],
    ['without a proof', 'not_consistent', viewOf(seenAt(leaves))],
    [
      'with the proof of another size',
      'not_consistent',
      viewOf(seenAt(leaves), { leaves, from: 11 }),
    ],
    ['another tenant’s', 'another_log', viewOf(seenAt(leaves, { tenantId: OTHER }))],
    ['signed by nobody known', 'key_unknown', viewOf(seenAt(leaves, { signer: next }))],
    [
      'under a signature of the known key that does not hold',
      'signature_invalid',
      viewOf({ ...seenAt(leaves), note: seenAt(leaves).note.replace('\n20\n', '\n21\n') }),
    ],
    [
      'of an earlier epoch',
      'epoch_went_back',
      viewOf(seenAt(leaves)),
      seenAt(leaves.slice(0, 12), { epoch: 2 }),
    ],
    [
      'of a later epoch that nothing announces',
      'epoch_unannounced',
      viewOf(seenAt(leaves, { epoch: 2 }), { leaves, from: 12 }),
    ],
    [
      'of a later epoch that another key announces',
      'epoch_unannounced',
      viewOf(seenAt(leaves, { epoch: 2 }), {
        ...{ leaves, from: 12 },
        log_epochs: [beginEpoch(2, known, { signer: { ...next, kid: 'first' } })],
      }),
    ],
    [
      'of a later epoch that another tenant’s statement announces',
      'epoch_unannounced',
      viewOf(seenAt(leaves, { epoch: 2 }), {
        ...{ leaves, from: 12 },
        log_epochs: [beginEpoch(2, known, { tenantId: OTHER })],
      }),
    ],
    [
      'of an epoch two behind, with one announced',
      'epoch_unannounced',
      viewOf(seenAt(leaves, { epoch: 3 }), {
        ...{ leaves, from: 12 },
        log_epochs: [beginEpoch(3, seenAt(leaves.slice(0, 12), { epoch: 2 }))],
      }),
    ],
    [
      'of an epoch that goes on from itself',
      'epoch_unannounced',
      viewOf(seenAt(leaves, { epoch: 2 }), {
        ...{ leaves, from: 12 },
        log_epochs: [beginEpoch(2, seenAt(leaves.slice(0, 12), { epoch: 2 }))],
      }),
    ],
    [
      'of an epoch that two statements begin',
      'epoch_rewritten',
      viewOf(seenAt(leaves, { epoch: 2 }), {
        ...{ leaves, from: 12 },
        log_epochs: [beginEpoch(2, known), beginEpoch(2, seenAt(leaves.slice(0, 14)))],
      }),
    ],
    [
      'restored behind the epoch that was seen, and written anew',
      'epoch_cut',
      viewOf(seenAt(forked, { epoch: 3 }), {
        ...{ leaves: forked, from: 12 },
        log_epochs: [beginEpoch(3, seenAt(leaves.slice(0, 11)))],
      }),
      seenAt(leaves.slice(0, 12), { epoch: 2 }),
    ],
    [
      'cut below what was seen, as announced',
      'epoch_cut',
      viewOf(seenAt(forked, { epoch: 2 }), {
        ...{ leaves: forked, from: 12 },
        log_epochs: [beginEpoch(2, seenAt(leaves.slice(0, 11)))],
      }),
    ],
    [
      'restored, as announced, with another root at the size that was seen',
      'root_differs',
      viewOf(seenAt(leaves, { epoch: 2 }), {
        ...{ leaves, from: 12 },
        log_epochs: [beginEpoch(2, seenAt(leavesOf(12, 'b')))],
      }),
    ],
  ])('contradicts where it is %s', (_what, reason, view, held) => {
    expect(reasonOf(held ?? known, trust, view)).toBe(reason);
  });

  it('contradicts where one epoch begins in two ways', () => {
    const kept = { ...trust, logEpochs: [beginEpoch(2, known)] };
    const log_epochs = [beginEpoch(2, seenAt(leaves.slice(0, 14)))];
    const held = seenAt(leaves.slice(0, 12), { epoch: 2 });
    const view = viewOf(seenAt(leaves, { epoch: 2 }), { leaves, from: 12, log_epochs });
    expect(reasonOf(held, kept, view)).toBe('epoch_rewritten');
    expect(reasonOf(held, trust, view)).toBe('continues');
  });

  it('is judged by the note alone: anything else is refused as unreadable', () => {
    expect(() => judgeLogView(known, trust, { ...viewOf(null), note: 'no note' })).toThrow(
      SyntaxError,
    );
  });
});
