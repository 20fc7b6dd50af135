/**
 * Payloads as administrators read them. Each read is recorded in the audit chain, even a failed
 * one; if it cannot be recorded, nothing is shown.
 */
import { AppError, type ErrorCode } from '@governance/shared/errors';
import {
  MAX_PAYLOAD_BYTES,
  type PayloadPart,
  payloadDigest,
} from '@governance/shared/evidence/event-payload';
import { parseStrictJson } from '@governance/shared/json/strict-json';
import { Id, toStorableText } from '@governance/shared/text';
import { z } from 'zod';
import { readRecord } from '../chain/ledger-row.ts';
import { recordsOf } from '../chain/records-of.ts';
import { type DataKeys, decryptUnder } from '../key-management/data-keys.ts';
import type {
  TenantDatabase,
  TenantScope,
  TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import { Prisma } from '../platform/generated/client.ts';
import { PAYLOAD_PURPOSE } from './payload-ingest.ts';
import { payloadContext, payloadStore, type StoredPayload } from './payload-store.ts';

export interface PayloadServiceDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  dataKeys: DataKeys;
  now: () => Date;
}

export type PayloadService = ReturnType<typeof createPayloadService>;

/** The parts of a payload, by their names. */
export type Payload = Partial<Record<PayloadPart, unknown>>;

const Stored = z.object({ salt: z.string(), text: z.string() });

/** Characters of an asked id that the audit record quotes where it is no id. */
const MAX_QUOTED_ID = 100;

/** Which payload is asked for. */
export interface AskedPayload {
  eventId: string;
  /**
   * The data plane whose event it is; that of the first recorded decision unless given, since others
   * may repeat the id.
   */
  deploymentId?: string;
}

interface Found {
  isEvent: boolean;
  parts: StoredPayload[];
  /** The digest in each part's record; absent when the record is missing. */
  digests: Map<PayloadPart, string | null>;
}

export function createPayloadService({ db, dataKeys, now }: PayloadServiceDeps) {
  async function show(scope: TenantScope, { parts, digests }: Found): Promise<Payload> {
    const shown: Payload = {};
    for (const { part, eventId, dataKeyId, ciphertext } of parts) {
      const key = await dataKeys.find(scope, dataKeyId, PAYLOAD_PURPOSE);
      const context = payloadContext(scope.tenantId, eventId, part);
      const plaintext = decryptUnder(key, ciphertext, context).toString('utf8');
      const { salt, text } = Stored.parse(JSON.parse(plaintext));
      if (digests.get(part) !== payloadDigest(Buffer.from(salt, 'base64url'), text)) {
        throw new Error(`the stored ${part} does not match the digest in its record`);
      }
      shown[part] = asJson(text);
    }
    return shown;
  }

  /** Every attempt to see a payload is recorded, a refused one too. */
  async function recordAccess(scope: TenantScope, eventId: string, action: string, result: string) {
    const target = `event/${toStorableText(eventId.slice(0, MAX_QUOTED_ID))}`;
    await db.inTenant(scope, async (tx) => {
      tx.audit.append({ action, target, details: { result } });
    });
  }

  /**
   * @param eventId caller-controlled: any text
   * @param refusal why the caller may not see the payload, if so
   */
  async function read(
    scope: TenantScope,
    { eventId, deploymentId }: AskedPayload,
    action: string,
    refusal: (found: Found) => ErrorCode | undefined,
  ): Promise<Payload> {
    const found = await db.inTenant(scope, (tx) => findPayload(tx, eventId, deploymentId));
    const code = found.isEvent ? refusal(found) : 'EVENT_NOT_FOUND';
    if (code !== undefined) {
      await recordAccess(scope, eventId, action, code.toLowerCase());
      throw new AppError(code);
    }
    let payload: Payload;
    try {
      payload = await show(scope, found);
    } catch (cause) {
      await recordAccess(scope, eventId, action, 'failed');
      throw new AppError('PAYLOAD_DECRYPTION_FAILED', undefined, { cause });
    }
    await recordAccess(scope, eventId, action, 'shown');
    return payload;
  }

  return {
    retentionStatus: (scope: TenantScope) =>
      db.inTenant(scope, (tx) => payloadStore(tx).status(now())),

    /** @throws AppError EVENT_NOT_FOUND, PAYLOAD_NOT_ENCRYPTED, PAYLOAD_DECRYPTION_FAILED */
    decrypt: (scope: TenantScope, eventId: string): Promise<Payload> =>
      read(scope, { eventId }, 'PAYLOAD_DECRYPTED', ({ parts }) =>
        parts.some(({ isEncrypted }) => isEncrypted) ? undefined : 'PAYLOAD_NOT_ENCRYPTED',
      ),

    /**
     * The stored payload of an event whose policy does not encrypt it.
     *
     * @throws AppError EVENT_NOT_FOUND, PAYLOAD_NOT_FOUND, PAYLOAD_ENCRYPTED,
     * PAYLOAD_DECRYPTION_FAILED
     */
    show: (scope: TenantScope, asked: AskedPayload): Promise<Payload> =>
      read(scope, asked, 'payload_read', ({ parts }) => {
        if (parts.length === 0) return 'PAYLOAD_NOT_FOUND';
        return parts.some(({ isEncrypted }) => isEncrypted) ? 'PAYLOAD_ENCRYPTED' : undefined;
      }),
  };
}

async function findPayload(
  tx: TenantTransaction,
  eventId: string,
  deploymentId: string | undefined,
): Promise<Found> {
  if (!Id.safeParse(eventId).success) return { isEvent: false, parts: [], digests: new Map() };
  const { db, scope } = tx;
  const id = Prisma.sql`${eventId}::uuid`;
  const called = recordsOf(scope.tenantId, 'id', id);
  const answered = recordsOf(scope.tenantId, 'subject_id', id);
  const [first] = await db.$queryRaw<{ stream: string }[]>`
    SELECT stream::text AS stream FROM (
      SELECT type, stream, position FROM ${called} called WHERE type IN ('decision', 'admin_action')
      UNION ALL
      SELECT type, stream, position FROM ${answered} answered WHERE type = 'outcome'
    ) event ORDER BY type = 'decision' DESC, position LIMIT 1`;
  if (!first) return { isEvent: false, parts: [], digests: new Map() };
  const owner = deploymentId ?? first.stream;
  // One of each: a data plane may repeat an id as often as it likes.
  const rows = await db.$queryRaw<{ bytes: Uint8Array }[]>`
    (SELECT bytes FROM ${called} called WHERE type = 'decision' AND stream = ${owner}::uuid
      ORDER BY position LIMIT 1)
    UNION ALL
    (SELECT bytes FROM ${answered} answered WHERE type = 'outcome' AND stream = ${owner}::uuid
      ORDER BY position LIMIT 1)`;
  const digests: Found['digests'] = new Map();
  for (const { bytes } of rows) {
    const record = readRecord(bytes);
    if (record?.v !== 2) continue;
    if (record.type !== 'decision' && record.type !== 'outcome') continue;
    digests.set(record.type === 'decision' ? 'input' : 'result', record.payload_digest);
  }
  const stored = await payloadStore(tx).find(eventId, owner);
  return { isEvent: true, parts: stored, digests };
}

/**
 * Nesting that is shown as JSON: more than data planes keep, and little enough that the answer can
 * be written.
 */
const SHOWN_JSON = { maxDepth: 256, maxNodes: MAX_PAYLOAD_BYTES };

/**
 * A server's result may be something other than JSON, or JSON that would be another once it is read
 * and written again (an integer past 2^53): it is shown as its text.
 */
function asJson(text: string): unknown {
  try {
    return parseStrictJson(text, SHOWN_JSON);
  } catch {
    return text;
  }
}
