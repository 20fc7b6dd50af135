/**
 * How the channels travel over HTTP: paths, headers and the form of a batch. The control plane
 * serves them, a data plane calls them; both take them from here. Proven by channel-routes.test.ts.
 */
import { createHash, type KeyObject, sign, verify } from 'node:crypto';
import { z } from 'zod';
import { AppError } from '../errors.ts';
import { canonicalize } from '../json/canonical-json.ts';
import { BatchHeader, type SignedBatch } from '../ledger/audit-batch.ts';
import type { RegistrationRequest } from './channels.ts';
import { FeedEntry } from './facts.ts';
import {
  SignedAdminHead,
  SignedClock,
  SignedFreshness,
  SignedRecognition,
  SignedSnapshotEnd,
} from './signed-statement.ts';

/** Paths, with ids filled in. Every request carries the data plane's token as its bearer. */
export const CHANNEL_PATHS = {
  register: '/api/v1/data-planes/register',
  /** POST, no body: a new token, beside the old one for the overlap. */
  renew: (deploymentId: string) => `/api/v1/data-planes/${deploymentId}/token`,
  heartbeat: (deploymentId: string) => `/api/v1/data-planes/${deploymentId}/heartbeat`,
  /** GET with cursor, digest, limit, wait (seconds) and backlog; 410 asks for a snapshot. */
  feed: (deploymentId: string) => `/api/v1/data-planes/${deploymentId}/feed`,
  /** GET: NDJSON, `SnapshotLine`s. An answer without an end is incomplete. */
  snapshot: (deploymentId: string) => `/api/v1/data-planes/${deploymentId}/feed/snapshot`,
  /** GET with epoch and size: `LogView`. */
  log: (deploymentId: string) => `/api/v1/data-planes/${deploymentId}/log`,
  /** POST: NDJSON, `encodeBatch`. */
  auditBatches: (deploymentId: string) => `/api/v1/data-planes/${deploymentId}/audit-batches`,
  /** POST: `PayloadUpload`. */
  payloads: (deploymentId: string) => `/api/v1/data-planes/${deploymentId}/payloads`,
  bundle: (tenantId: string) => `/api/v1/opa/bundle/${tenantId}`,
} as const;

/** The bundle's revision, beside its digest in ETag. */
export const REVISION_HEADER = 'x-bundle-revision';

export const NDJSON = 'application/x-ndjson';

/** Largest batch on the wire: the sender splits larger ones. */
export const BATCH_LIMITS = { records: 500, bytes: 8 * 1024 * 1024 } as const;

export const FeedPageBody = z.object({
  entries: z.array(FeedEntry),
  cursor: z.int().nonnegative(),
  head: z.int().nonnegative(),
  statement: SignedFreshness,
  admin_head: SignedAdminHead.optional(),
  recognition: SignedRecognition.optional(),
  clock: SignedClock.optional(),
  recognition_clock: SignedClock.optional(),
});

/** A line of a snapshot: an entry, or the end. */
export const SnapshotLine = z.union([
  z.object({ entry: FeedEntry }),
  z.object({ end: SignedSnapshotEnd, clock: SignedClock.optional() }),
]);
export type SnapshotLine = z.infer<typeof SnapshotLine>;

const LINE_FEED = 0x0a;

/** Bytes of a batch's first line: the header and its signature have some 700. */
const MAX_HEADER_BYTES = 8 * 1024;

const BatchEnvelope = z.strictObject({ header: BatchHeader, signature: z.string().max(200) });

/**
 * A batch as NDJSON: the header with its signature, then each record's bytes verbatim. Canonical
 * JSON has no line feed, so nothing needs quoting, and what was hashed is what travels.
 */
export function encodeBatch({ header, signature, records }: SignedBatch): Buffer {
  const parts: Uint8Array[] = [Buffer.from(canonicalize({ header, signature }))];
  const feed = Buffer.from([LINE_FEED]);
  for (const record of records) parts.push(feed, record);
  return Buffer.concat(parts);
}

/**
 * Reads what `encodeBatch` made. Only the form is checked here; ingest checks the rest.
 *
 * @param body caller-controlled
 * @throws z.ZodError or SyntaxError when it has not that form
 * @throws AppError BODY_TOO_LARGE when it has more records than BATCH_LIMITS allow: a body of
 *   nothing but line feeds would take a hundred times its size in memory
 */
export function decodeBatch(body: Uint8Array): SignedBatch {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const records: Uint8Array[] = [];
  const headerEnd = endOfLine(bytes, 0);
  if (headerEnd > MAX_HEADER_BYTES) throw new SyntaxError('the header line is too long');
  const { header, signature } = BatchEnvelope.parse(
    JSON.parse(bytes.toString('utf8', 0, headerEnd)),
  );
  for (let at = headerEnd + 1; at < bytes.length; ) {
    if (records.length === BATCH_LIMITS.records) {
      const detail = `A batch holds at most ${BATCH_LIMITS.records} records.`;
      throw new AppError('BODY_TOO_LARGE', detail);
    }
    const end = endOfLine(bytes, at);
    records.push(bytes.subarray(at, end));
    at = end + 1;
  }
  return { header, signature, records };
}

function endOfLine(bytes: Buffer, from: number): number {
  const at = bytes.indexOf(LINE_FEED, from);
  return at === -1 ? bytes.length : at;
}

/**
 * What the proof of a registration covers: the request, and the token it is sent with, so that an
 * observed proof is of no use with another.
 */
function registrationProofBytes(registration: RegistrationRequest, token: string): Buffer {
  const tokenHash = createHash('sha256').update(token).digest('hex');
  return Buffer.from(canonicalize({ registration, token_hash: tokenHash }));
}

/** Proves that the sender of a registration holds its signing key. */
export function proveRegistration(
  key: KeyObject,
  registration: RegistrationRequest,
  token: string,
): string {
  return sign(null, registrationProofBytes(registration, token), key).toString('base64url');
}

/** Whether a proof was made by the holder of this Ed25519 key. Never throws. */
export function isRegistrationProven(
  key: KeyObject,
  registration: RegistrationRequest,
  token: string,
  proof: string,
): boolean {
  try {
    const bytes = registrationProofBytes(registration, token);
    return verify(null, bytes, key, Buffer.from(proof, 'base64url'));
  } catch {
    return false;
  }
}
