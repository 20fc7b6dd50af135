/**
 * Watching a tenant's log: what a control plane shows of it, and when that cannot belong to the log
 * seen before. A data plane checks with it what it receives, and a third party what a data plane
 * kept. An announced restore explains a contradiction but does not remove it. Proven by
 * log-watch.test.ts.
 */
import { z } from 'zod';
import { Sha256Hex, Text } from '../text.ts';
import {
  isCheckpointSignedBy,
  LogPlace,
  noteKeyHash,
  parseCheckpoint,
  readLogOrigin,
  type SignedCheckpoint,
} from './checkpoint.ts';
import { createKeyset, type KnownKey } from './checks/keyset.ts';
import { readEd25519Key } from './ed25519.ts';
import {
  isStatementSignedBy,
  KeyEntry,
  type LogEpoch,
  MAX_LOG_EPOCHS,
  SignedLogEpoch,
  SignedRotation,
} from './evidence-keys.ts';
import { isConsistent } from './merkle-proofs.ts';

/**
 * Limit of a watched checkpoint's note, in characters: without witnesses' lines it has some 330.
 */
const WATCHED_NOTE_LENGTH = 2_000;
export const WatchedNote = Text.min(1).max(WATCHED_NOTE_LENGTH);

/** Nodes of a consistency proof, at most. */
const MAX_PATH = 64;
export const MAX_WATCHED_KEYS = 200;
export const MAX_WATCHED_EPOCHS = MAX_LOG_EPOCHS;

/** Later epochs whose beginnings are proven to a reader: the newest ones. */
export const MAX_SHOWN_RESTORES = 100;

/** What a control plane shows of a tenant's log to a reader that holds a position in it. */
export const LogView = z.object({
  /** The newest checkpoint; null while there is none. */
  note: WatchedNote.nullable(),
  /** Of purpose `checkpoint`. */
  keys: z.array(KeyEntry).max(MAX_WATCHED_KEYS),
  rotations: z.array(SignedRotation).max(MAX_WATCHED_KEYS),
  /** From the reader's epoch on. */
  log_epochs: z.array(SignedLogEpoch).max(MAX_WATCHED_EPOCHS),
  /** RFC 6962, from the reader's size to the note's; null where there is none. */
  consistency: z.array(Sha256Hex).max(MAX_PATH).nullable(),
  /**
   * From the place at which each later epoch than the asker's began to the note's size, where no
   * later restore lost it. An earlier control plane shows none.
   */
  restored: z
    .array(z.object({ epoch: z.int(), path: z.array(Sha256Hex).max(MAX_PATH) }))
    .max(MAX_SHOWN_RESTORES)
    .optional(),
});
export type LogView = z.infer<typeof LogView>;

/** Why the received view cannot belong to the log seen before. */
export const ContradictionReason = z.enum([
  'root_differs',
  'not_consistent',
  'went_back',
  'epoch_went_back',
  'epoch_unannounced',
  'epoch_rewritten',
  'epoch_cut',
  'key_unknown',
  'signature_invalid',
  'another_log',
]);
export type ContradictionReason = z.infer<typeof ContradictionReason>;

/** A checkpoint that was seen. */
export const SeenCheckpoint = LogPlace.extend({ note: WatchedNote });
export type SeenCheckpoint = z.infer<typeof SeenCheckpoint>;

/** The keys and the beginnings of epochs that a watcher trusts. */
export interface WatchTrust {
  tenantId: string;
  /** Keys of purpose `checkpoint`, as first seen. */
  keys: readonly KeyEntry[];
  rotations: readonly SignedRotation[];
  /** Those reported as revoked since: a revocation is never undone. */
  revoked?: readonly KeyEntry[];
  logEpochs: readonly SignedLogEpoch[];
}

export type Judgement =
  | { kind: 'empty' }
  | { kind: 'same' }
  | { kind: 'continues'; seen: SeenCheckpoint; logEpochs: SignedLogEpoch[] }
  | {
      kind: 'contradicts';
      reason: ContradictionReason;
      /** The received checkpoint, if a trusted key signed it. */
      seen: SeenCheckpoint | null;
      logEpochs: SignedLogEpoch[];
    };

/**
 * Checks what a control plane shows against the largest position seen.
 *
 * @param known the largest checkpoint that is kept; null at first
 * @param trust its rotations are those that are kept and those of the view together
 * @param view caller-controlled, of the form of `LogView`
 * @throws SyntaxError when the note is no checkpoint of this format
 */
export function judgeLogView(
  known: SeenCheckpoint | null,
  trust: WatchTrust,
  view: LogView,
): Judgement {
  if (view.note === null) {
    return known
      ? { kind: 'contradicts', reason: 'went_back', seen: null, logEpochs: [] }
      : { kind: 'empty' };
  }
  const signed = parseCheckpoint(view.note);
  const keys = checkpointKeys(trust, view.rotations, view.keys);
  const refused = findSignatureFault(signed, trust.tenantId, keys);
  if (refused) return { kind: 'contradicts', reason: refused, seen: null, logEpochs: [] };
  const { origin, size, root } = signed.checkpoint;
  const epoch = readLogOrigin(origin)?.epoch ?? 0;
  const seen: SeenCheckpoint = { epoch, size, root, note: view.note };
  const logEpochs = findSignedEpochs(view.log_epochs, trust.tenantId, keys);
  const reason = findContradiction(known, trust, {
    seen,
    logEpochs,
    path: view.consistency,
    restored: view.restored,
  });
  if (reason) return { kind: 'contradicts', reason, seen, logEpochs };
  const isSame = known?.epoch === epoch && known.size === size;
  return isSame ? { kind: 'same' } : { kind: 'continues', seen, logEpochs };
}

/**
 * The checkpoint keys that are trusted, those that follow by rotations among them. A revoked one is
 * not; what it said last, who follows it, counts.
 *
 * @param reported the present state of keys: it can end the life of a trusted one
 */
export function checkpointKeys(
  trust: Pick<WatchTrust, 'keys' | 'rotations' | 'revoked'>,
  more: readonly SignedRotation[] = [],
  reported: readonly KeyEntry[] = [],
): KnownKey[] {
  const rotations = [...trust.rotations, ...more];
  const keys = [...(trust.revoked ?? []), ...reported].filter(
    ({ revoked_at }) => revoked_at !== null,
  );
  const own = { keys, rotations, writers: [], log_epochs: [] };
  return createKeyset(trust.keys, own)
    .all('checkpoint')
    .filter(({ isAnchored, revokedAt }) => isAnchored && revokedAt === null);
}

/**
 * Whether a trusted key signed a checkpoint of the tenant's log.
 *
 * @returns what is wrong; undefined where nothing is
 */
export function findSignatureFault(
  signed: SignedCheckpoint,
  tenantId: string,
  keys: readonly KnownKey[],
): ContradictionReason | undefined {
  if (readLogOrigin(signed.checkpoint.origin)?.tenantId !== tenantId) return 'another_log';
  if (keys.some(({ jwk }) => isCheckpointSignedBy(signed, jwk))) return undefined;
  const ids = new Set(keys.flatMap((key) => tryKeyId(signed.checkpoint.origin, key)));
  const isClaimed = signed.signatures.some(({ keyHash }) => ids.has(keyHash));
  return isClaimed ? 'signature_invalid' : 'key_unknown';
}

function tryKeyId(origin: string, { jwk }: KnownKey): string[] {
  try {
    return [noteKeyHash(origin, readEd25519Key(jwk)).toString('hex')];
  } catch {
    return [];
  }
}

/** The beginnings of a tenant's log epochs that trusted keys signed. */
export function findSignedEpochs(
  logEpochs: readonly SignedLogEpoch[],
  tenantId: string,
  keys: readonly KnownKey[],
): SignedLogEpoch[] {
  return logEpochs.filter(
    (one) =>
      one.statement.tenant_id === tenantId &&
      keys.some(({ kid, jwk }) => kid === one.kid && isStatementSignedBy(jwk, one)),
  );
}

/** What of a view trusted keys signed. */
interface VouchedView {
  seen: SeenCheckpoint;
  logEpochs: SignedLogEpoch[];
  path: readonly string[] | null;
  restored: LogView['restored'];
}

function findContradiction(
  known: SeenCheckpoint | null,
  { logEpochs: kept }: WatchTrust,
  vouched: VouchedView,
): ContradictionReason | undefined {
  const { seen, logEpochs, path } = vouched;
  if (logEpochs.some((one) => kept.some((before) => isOtherBeginning(before, one)))) {
    return 'epoch_rewritten';
  }
  if (!known) return undefined;
  if (seen.epoch < known.epoch) return 'epoch_went_back';
  const restores = followRestores(known, seen.epoch, logEpochs);
  if (typeof restores === 'string') return restores;
  const proof = { from: known.size, to: seen.size, fromRoot: known.root, toRoot: seen.root };
  const isSame = seen.size === known.size && seen.root === known.root;
  const leads = isSame || (seen.size > known.size && path && isConsistent({ ...proof, path }));
  // Even what a restore lost: its leaves were appended again, each the same in its position.
  if (leads) return isBegunIn(vouched, known.epoch) ? undefined : 'not_consistent';
  if (known.size > restores.kept || restores.epoch < known.epoch) return 'epoch_cut';
  if (seen.size < known.size) return 'went_back';
  return seen.size === known.size ? 'root_differs' : 'not_consistent';
}

/**
 * Walks back to the known epoch, over the statement that began each, as `log.consistency` does with
 * proofs of the places too.
 */
function followRestores(
  known: SeenCheckpoint,
  epoch: number,
  logEpochs: readonly SignedLogEpoch[],
): { epoch: number; kept: number } | ContradictionReason {
  const at = { epoch, kept: Number.POSITIVE_INFINITY };
  while (at.epoch > known.epoch) {
    const [begun, other] = logEpochs.filter(({ statement }) => statement.epoch === at.epoch);
    if (other) return 'epoch_rewritten';
    if (!begun || begun.statement.restored.epoch >= at.epoch) return 'epoch_unannounced';
    const { epoch, size, root } = begun.statement.restored;
    // What a later restore lost of it can no longer be compared.
    if (size <= at.kept && size === known.size && root !== known.root) return 'root_differs';
    Object.assign(at, { epoch, kept: Math.min(at.kept, size) });
  }
  return at;
}

/**
 * Whether the received tree contains each position at which a later epoch began, except what a
 * later restore lost.
 */
function isBegunIn({ seen, logEpochs, restored }: VouchedView, knownEpoch: number): boolean {
  if (!restored) return true;
  const paths = new Map(restored.map(({ epoch, path }) => [epoch, path]));
  return listStandingRestores(logEpochs, { from: knownEpoch, to: seen.epoch })
    .slice(0, MAX_SHOWN_RESTORES)
    .every(({ epoch, restored: { size, root } }) => {
      const path = paths.get(epoch) ?? [];
      return isConsistent({ from: size, to: seen.size, fromRoot: root, toRoot: seen.root, path });
    });
}

/** The beginnings of epochs between two that no later restore lost, the newest first. */
export function listStandingRestores(
  logEpochs: readonly SignedLogEpoch[],
  { from, to }: { from: number; to: number },
): LogEpoch[] {
  const found: LogEpoch[] = [];
  let kept = Number.POSITIVE_INFINITY;
  for (let epoch = to; epoch > from; ) {
    const begun = logEpochs.find(({ statement }) => statement.epoch === epoch)?.statement;
    if (!begun || begun.restored.epoch >= epoch) break;
    const { size } = begun.restored;
    if (size > 0 && size <= kept) found.push(begun);
    kept = Math.min(kept, size);
    epoch = begun.restored.epoch;
  }
  return found;
}

/** Whether two statements begin one log epoch at different positions. */
export function isOtherBeginning(
  { statement: a }: SignedLogEpoch,
  { statement: b }: SignedLogEpoch,
): boolean {
  const { epoch, size, root } = a.restored;
  const isSame = epoch === b.restored.epoch && size === b.restored.size && root === b.restored.root;
  return a.epoch === b.epoch && !isSame;
}

/**
 * Whether two checkpoints, both signed by the log, cannot be of one log that only grew, by themselves
 * and without a proof: one size with two roots. Whatever else contradicts, the log may still explain.
 */
export function isSelfContradicting(a: LogPlace, b: LogPlace): boolean {
  return a.epoch === b.epoch && a.size === b.size && a.root !== b.root;
}
