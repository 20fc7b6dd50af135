/**
 * A verification walk's progress in one stream, with everything that it needs to continue, also in
 * another process.
 */
import { Epoch, Sha256Hex, Timestamp } from '@governance/shared/text';
import { z } from 'zod';

const Position = z.strictObject({
  epoch: Epoch,
  seq: z.int().positive(),
  head: Sha256Hex,
});

/** A restore from a backup, as the operator announced it. */
const Restore = z.strictObject({
  /** The number of its record in the admin chain. */
  seq: z.int().positive(),
  at: Timestamp,
  reason: z.string(),
});
export type Restore = z.infer<typeof Restore>;

/** Only the newest are kept: a restore explains every break that an earlier one explains. */
export const MAX_RESTORES = 20;

const StreamMark = z.strictObject({
  kind: z.enum(['admin', 'data_plane', 'unknown']),
  /** The last verified record. */
  end: Position.nullable(),
  /** Of that record, in the order of receipt. */
  position: z.int().nonnegative(),
  /** The last verified signed batch. */
  covered: z.strictObject({ epoch: z.int().nonnegative(), lastSeq: z.int().nonnegative() }),
  records: z.int().nonnegative(),
  quarantined: z.int().nonnegative(),
  /** Records outside quarantine that no verifier reads; missing in marks of earlier versions. */
  unread: z.int().nonnegative().default(0),
  /** Of `records`, those received before the walk began. */
  counted: z.int().nonnegative(),
  /** The key's coordinate in the admin chain; null when it registered none. */
  signingKey: z.string().nullable(),
  /** Whether the admin chain says that this stream had two writers. */
  isForked: z.boolean(),
  /** In the admin chain: the restores announced in it, oldest first. */
  restores: z.array(Restore).max(MAX_RESTORES),
});
export type StreamMark = z.infer<typeof StreamMark>;

export function newMark(kind: StreamMark['kind']): StreamMark {
  return {
    kind,
    end: null,
    position: 0,
    covered: { epoch: 0, lastSeq: 0 },
    records: 0,
    quarantined: 0,
    unread: 0,
    counted: 0,
    signingKey: null,
    isForked: false,
    restores: [],
  };
}

/**
 * @returns undefined where the text is not a mark: the walk then starts at the beginning of the
 * stream
 */
export function readMark(text: string): StreamMark | undefined {
  try {
    return StreamMark.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
