/**
 * What verification reads from the admin chain about other streams: their registered keys, forks
 * and restores. The tables hold the same facts, but the database's owner can rewrite them; the
 * admin chain's head is also known to data planes.
 */
import type { AdminActionRecord } from '@governance/shared/ledger/ledger-record';
import { z } from 'zod';
import type { FoundInStream } from './chain-walk.ts';
import { MAX_RESTORES, newMark, type StreamMark } from './stream-mark.ts';

/** The action of an announced restore; only restore-announcement.ts writes it. */
export const CONTROL_PLANE_RESTORED = 'control_plane_restored';

const PLANE = /^data_plane\/([0-9a-f-]{36})$/;
const WithKey = z.object({ signing_key: z.string() });
const WithReason = z.object({ reason: z.string() });

/**
 * Applies a record of the admin chain to the marks.
 *
 * @param marks of the tenant's streams, by id
 * @param admin the admin chain's mark
 * @returns the stream whose mark changed, with its break, if any
 */
export function learnFrom(
  record: AdminActionRecord,
  marks: Map<string, StreamMark>,
  admin: StreamMark,
): { stream: string; broken: FoundInStream | undefined } | undefined {
  if (record.action === CONTROL_PLANE_RESTORED) {
    const { data } = WithReason.safeParse(record.details);
    const restore = { seq: record.seq, at: record.timestamp, reason: data?.reason ?? '' };
    admin.restores = [...admin.restores, restore].slice(-MAX_RESTORES);
    return undefined;
  }
  const stream = PLANE.exec(record.target)?.[1];
  if (stream === undefined) return undefined;
  switch (record.action) {
    case 'data_plane_registered':
    case 'data_plane_updated':
      return { stream, broken: learnKey(record, markOf(marks, stream)) };
    case 'data_plane_forked':
      markOf(marks, stream).isForked = true;
      return { stream, broken: undefined };
    default:
      return undefined;
  }
}

function learnKey(record: AdminActionRecord, mark: StreamMark): FoundInStream | undefined {
  const { data } = WithKey.safeParse(record.details);
  if (!data) return undefined;
  const { signing_key: key } = data;
  if (mark.signingKey !== null && mark.signingKey !== key) {
    // A deployment never changes its key: the first registration stands.
    return registrationBreak(
      mark.signingKey,
      key,
      'the admin chain registers the stream with two keys',
    );
  }
  mark.signingKey = key;
  return undefined;
}

function markOf(marks: Map<string, StreamMark>, stream: string): StreamMark {
  const known = marks.get(stream);
  if (known) return known;
  const mark = newMark('data_plane');
  marks.set(stream, mark);
  return mark;
}

/** The break of a stream whose writer is not the one that the admin chain registered. */
export function registrationBreak(expected: string, actual: string, detail: string): FoundInStream {
  return { kind: 'registration', epoch: 1, seq: 1, fault: detail, expected, actual, detail };
}
