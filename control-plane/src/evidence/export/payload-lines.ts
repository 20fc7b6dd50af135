/** Decrypted payloads of records, each the one whose digest is in its record. */

import {
  type PayloadPart,
  PayloadSalt,
  PayloadText,
  payloadDigest,
} from '@governance/shared/evidence/event-payload';
import { VOLUME_LIMITS } from '@governance/shared/evidence/evidence-package';
import { canonicalize } from '@governance/shared/json/canonical-json';
import { z } from 'zod';
import { readRecord } from '../../chain/ledger-row.ts';
import { type DataKeys, decryptUnder } from '../../key-management/data-keys.ts';
import { PAYLOAD_PURPOSE } from '../../payloads/payload-ingest.ts';
import { payloadContext } from '../../payloads/payload-store.ts';
import type { TenantScope, TenantTransaction } from '../../platform/database/tenant-scope.ts';
import { ExportRefused } from './evidence-request.ts';
import type { PackagedRecord } from './packaged-record.ts';

/**
 * Reads the payload lines for a page of records, some at a time: a batch may have hundreds of
 * mebibytes of them.
 */
export type ReadPayloads = (
  tx: TenantTransaction,
  page: readonly PackagedRecord[],
) => AsyncGenerator<string[]>;

const Stored = z.object({ salt: PayloadSalt, text: PayloadText });

interface Place {
  stream: string;
  eventId: string;
  part: PayloadPart;
}

interface Wanted extends Place {
  digest: string;
}

interface Sealed extends Place {
  dataKeyId: string;
  ciphertext: Uint8Array;
}

/** Encrypted bytes that are read at once; a single payload may have more. */
const STEP_BYTES = 8 * 1024 * 1024;

/** @throws ExportRefused when a payload cannot be decrypted */
export const createPayloadReader = (dataKeys: Pick<DataKeys, 'find'>): ReadPayloads =>
  async function* (tx, page) {
    for (const step of await findStored(tx, page.flatMap(wantedOf))) {
      yield await readLines(tx, dataKeys, step);
    }
  };

const placeOf = ({ eventId, part, stream }: Place): string => `${eventId}/${part}/${stream}`;

/**
 * Those that are stored, in order, in steps; the others were purged, or never arrived. Each is
 * there once: a data plane that lies may name a payload in every record of a batch.
 */
async function findStored(
  { db, scope: { tenantId } }: TenantTransaction,
  named: readonly Wanted[],
): Promise<Wanted[][]> {
  if (named.length === 0) return [];
  const wanted = new Map(named.map((one) => [`${placeOf(one)}/${one.digest}`, one])).values();
  const ids = [...new Set(named.map(({ eventId }) => eventId))];
  const rows = await db.$queryRaw<(Place & { bytes: number })[]>`
    SELECT event_id::text AS "eventId", part, deployment_id::text AS stream,
      octet_length(ciphertext) AS bytes
    FROM event_payloads WHERE tenant_id = ${tenantId}::uuid AND event_id = ANY(${ids}::uuid[])`;
  const bytesOf = new Map(rows.map((row) => [placeOf(row), row.bytes]));
  const steps: Wanted[][] = [];
  let held = STEP_BYTES;
  for (const one of wanted) {
    const bytes = bytesOf.get(placeOf(one));
    if (bytes === undefined) continue;
    held += bytes;
    if (held > STEP_BYTES) {
      steps.push([]);
      held = bytes;
    }
    steps.at(-1)?.push(one);
  }
  return steps;
}

async function readLines(
  { db, scope }: TenantTransaction,
  dataKeys: Pick<DataKeys, 'find'>,
  step: readonly Wanted[],
): Promise<string[]> {
  // A data plane may give an event id twice, with one digest each.
  const places = [...new Map(step.map((one) => [placeOf(one), one])).values()];
  const rows = await db.$queryRaw<Sealed[]>`
    SELECT p.event_id::text AS "eventId", p.part, p.deployment_id::text AS stream,
      p.data_key_id::text AS "dataKeyId", p.ciphertext
    FROM unnest(${places.map(({ eventId }) => eventId)}::uuid[],
      ${places.map(({ part }) => part)}::text[],
      ${places.map(({ stream }) => stream)}::uuid[]) AS place (event_id, part, stream)
    JOIN event_payloads p ON p.tenant_id = ${scope.tenantId}::uuid
      AND p.event_id = place.event_id AND p.part = place.part AND p.deployment_id = place.stream`;
  const found = new Map(rows.map((row) => [placeOf(row), row]));
  const lines: string[] = [];
  for (const one of step) {
    const row = found.get(placeOf(one));
    const line = row && lineOf(one, await decrypt(dataKeys, scope, row));
    if (line !== undefined) lines.push(line);
  }
  return lines;
}

/** @throws ExportRefused also where the stored bytes were changed */
async function decrypt(
  dataKeys: Pick<DataKeys, 'find'>,
  scope: TenantScope,
  { eventId, part, dataKeyId, ciphertext }: Sealed,
): Promise<string> {
  try {
    const key = await dataKeys.find(scope, dataKeyId, PAYLOAD_PURPOSE);
    const context = payloadContext(scope.tenantId, eventId, part);
    return decryptUnder(key, ciphertext, context).toString('utf8');
  } catch (cause) {
    throw new ExportRefused(`the payload of event ${eventId} cannot be decrypted`, { cause });
  }
}

/** @returns undefined for what is left out, like what was purged */
function lineOf({ eventId, part, digest }: Wanted, plaintext: string): string | undefined {
  const stored = Stored.safeParse(JSON.parse(plaintext));
  // Earlier versions took from a data plane that lies what no verifier reads.
  if (!stored.success) return undefined;
  const { salt, text } = stored.data;
  // A data plane gave its event id twice, and one payload: the other record's is not stored.
  if (payloadDigest(Buffer.from(salt, 'base64url'), text) !== digest) return undefined;
  const line = canonicalize({ event_id: eventId, part, salt, payload: text });
  return Buffer.byteLength(line) < VOLUME_LIMITS.lineBytes ? line : undefined;
}

function wantedOf({ type, stream, text }: PackagedRecord): Wanted[] {
  if (type !== 'decision' && type !== 'outcome') return [];
  const record = readRecord(Buffer.from(text));
  if (record?.v !== 2) return [];
  if (record.type === 'decision' && record.payload_digest !== null) {
    return [{ stream, eventId: record.id, part: 'input', digest: record.payload_digest }];
  }
  if (record.type === 'outcome' && record.payload_digest !== null) {
    return [{ stream, eventId: record.event_id, part: 'result', digest: record.payload_digest }];
  }
  return [];
}
