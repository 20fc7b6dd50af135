/** Decrypted payloads of records, each the one whose digest is in its record. */
import { canonicalize } from '@governance/shared/canonical-json';
import { type PayloadPart, payloadDigest } from '@governance/shared/event-payload';
import { VOLUME_LIMITS } from '@governance/shared/evidence/evidence-package';
import { z } from 'zod';
import { readRecord } from '../../chain/ledger-row.ts';
import { type DataKeys, decryptUnder } from '../../key-management/data-keys.ts';
import { PAYLOAD_PURPOSE } from '../../payloads/payload-ingest.ts';
import { payloadContext } from '../../payloads/payload-store.ts';
import type { TenantTransaction } from '../../platform/tenant-scope.ts';
import { ExportRefused } from './evidence-request.ts';
import type { PackagedRecord } from './package-reads.ts';

/** Reads the payload lines for a page of records. */
export type ReadPayloads = (
  tx: TenantTransaction,
  page: readonly PackagedRecord[],
) => Promise<string[]>;

const Stored = z.object({ salt: z.string(), text: z.string() });

interface Wanted {
  stream: string;
  eventId: string;
  part: PayloadPart;
  digest: string;
}

/** @throws ExportRefused when a payload cannot be decrypted */
export const createPayloadReader =
  (dataKeys: Pick<DataKeys, 'find'>): ReadPayloads =>
  async (tx, page) => {
    const { db, scope } = tx;
    const wanted = page.flatMap(wantedOf);
    if (wanted.length === 0) return [];
    const rows = await db.eventPayload.findMany({
      where: { tenantId: scope.tenantId, eventId: { in: wanted.map(({ eventId }) => eventId) } },
    });
    const lines: string[] = [];
    for (const { stream, eventId, part, digest } of wanted) {
      const row = rows.find(
        (one) => one.eventId === eventId && one.part === part && one.deploymentId === stream,
      );
      // Purged, or never stored: the record still has the digest.
      if (!row) continue;
      const key = await dataKeys.find(scope, row.dataKeyId, PAYLOAD_PURPOSE).catch((cause) => {
        throw new ExportRefused('a payload cannot be decrypted', { cause });
      });
      const context = payloadContext(scope.tenantId, eventId, part);
      const plaintext = decryptUnder(key, row.ciphertext, context).toString('utf8');
      const { salt, text } = Stored.parse(JSON.parse(plaintext));
      // A data plane gave its event id twice, and one payload: the other record's is not stored.
      if (payloadDigest(Buffer.from(salt, 'base64url'), text) !== digest) continue;
      const line = canonicalize({ event_id: eventId, part, salt, payload: text });
      // Payloads too large for a line are omitted, like purged ones.
      if (Buffer.byteLength(line) < VOLUME_LIMITS.lineBytes) lines.push(line);
    }
    return lines;
  };

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
