/**
 * Compares data planes' rows with the registrations in the admin chain, and their streams with what
 * they report as acknowledged. Finds a replaced key, an invented fork, a removed stream, and a
 * stream whose end was cut together with its head.
 */
import { Heartbeat, type ShippedEnd } from '@governance/shared/channel/channels';
import { z } from 'zod';
import { registrationBreak } from './admin-facts.ts';
import type { ChainStore, StoredPlane } from './chain-store.ts';
import type { FoundInStream } from './chain-walk.ts';
import type { StreamMark } from './stream-mark.ts';

export interface FoundInPlane {
  stream: string;
  found: FoundInStream;
}

const NONE = 'none';

/**
 * @param planes a page of rows, read after the admin chain was walked to `marks`
 * @param readHashes the stored hashes at positions
 */
export async function checkPlanes(
  planes: readonly StoredPlane[],
  marks: ReadonlyMap<string, StreamMark>,
  readHashes: ChainStore['readHashes'],
): Promise<FoundInPlane[]> {
  const found: FoundInPlane[] = [];
  const reported: { stream: string; shipped: ShippedEnd }[] = [];
  for (const plane of planes) {
    const { deploymentId: stream } = plane;
    const mark = marks.get(stream);
    for (const broken of [checkKey(plane, mark), checkStanding(plane, mark)]) {
      if (broken) found.push({ stream, found: broken });
    }
    const shipped = readShipped(plane.lastHeartbeat);
    if (shipped) reported.push({ stream, shipped });
    else if (plane.hasShippedAll && !plane.hasRecords) {
      // A data plane ships the beginning of its stream first.
      const detail = 'the data plane has shipped everything, but nothing is stored';
      found.push({ stream, found: missing({ epoch: 1, seq: 1 }, 'a stream', NONE, detail) });
    }
  }
  const places = reported.map(({ stream, shipped: { epoch, seq } }) => ({ stream, epoch, seq }));
  const stored = await readHashes(places);
  for (const [index, { stream, shipped }] of reported.entries()) {
    const hash = stored[index]?.kept ?? NONE;
    if (hash === shipped.head) continue;
    const detail = 'this record was acknowledged to the data plane';
    found.push({ stream, found: missing(shipped, shipped.head, hash, detail) });
  }
  return found;
}

function checkKey(plane: StoredPlane, mark: StreamMark | undefined): FoundInStream | undefined {
  const key = readCoordinate(plane.signingKey) ?? NONE;
  const registered = mark?.signingKey ?? null;
  if (registered === key) return undefined;
  const detail =
    registered === null
      ? 'the admin chain has no registration of this data plane'
      : 'the stored key differs from the registered one';
  return registrationBreak(registered ?? NONE, key, detail);
}

/** A row that says `forked` makes packages warn of the stream. */
function checkStanding(plane: StoredPlane, mark: StreamMark | undefined) {
  if (!plane.isForked || mark?.isForked) return undefined;
  const detail = 'the data plane’s row says that its stream forked, and the admin chain does not';
  return registrationBreak('one writer', 'two', detail);
}

/** The break of a data plane that the admin chain registered but that has no row. */
export function goneBreak(mark: StreamMark): FoundInStream {
  const detail = 'the data plane was registered but has no row';
  return registrationBreak(mark.signingKey ?? NONE, NONE, detail);
}

function missing(
  { epoch, seq }: { epoch: number; seq: number },
  expected: string,
  actual: string,
  detail: string,
): FoundInStream {
  return { kind: 'missing', epoch, seq, expected, actual, detail };
}

/** What a registration stores. */
const Jwk = z.object({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: z.string() });
const Told = Heartbeat.pick({ shipped: true });

/** The row may have been edited: unreadable JSON counts as no report. */
function readJson<T>(schema: z.ZodType<T>, text: string | null): T | undefined {
  try {
    return text === null ? undefined : schema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

const readCoordinate = (text: string) => readJson(Jwk, text)?.x;
const readShipped = (text: string | null) => readJson(Told, text)?.shipped;
