/**
 * Payloads in memory, until they are written. They are collected for a moment, so that one file
 * takes many.
 */
import { type NewPayload, sizeOf } from './seal-uploads.ts';

/** Limit of text in memory, of all tenants together. */
const PENDING_BYTES = 32 * 1024 * 1024;
/**
 * A tenant may use this many times the space that is left: a single tenant gets nearly all of it,
 * several get equal shares, and a new tenant still finds room.
 */
const SHARE_OF_FREE = 8;
const COLLECT_MS = 100;

/** Bytes of all tenants, and of one of them. */
export interface UsedBytes {
  all: number;
  own: number;
}

/** A tenant's text in memory. */
interface Pending {
  payloads: NewPayload[];
  /** Includes payloads that are being written to disk. */
  bytes: number;
}

export function createPendingPayloads(options: {
  /** Whether the disk will have room for what is pending. */
  fitsOnDisk(tenantId: string, pending: UsedBytes): boolean;
  write(tenantId: string, payloads: readonly NewPayload[]): Promise<void>;
  log: { error(fields: object, message: string): void };
}) {
  const tenants = new Map<string, Pending>();
  let bytes = 0;
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();

  function flush(): Promise<void> {
    if (timer) clearTimeout(timer);
    timer = null;
    const taken: { tenantId: string; tenant: Pending; payloads: NewPayload[] }[] = [];
    for (const [tenantId, tenant] of tenants) {
      if (tenant.payloads.length > 0) taken.push({ tenantId, tenant, payloads: tenant.payloads });
      tenant.payloads = [];
    }
    writing = writing.then(async () => {
      for (const { tenantId, tenant, payloads } of taken) {
        await options
          .write(tenantId, payloads)
          .catch((err) => options.log.error({ err, tenantId }, 'a write of payloads failed'));
        const size = payloads.reduce((sum, payload) => sum + sizeOf(payload), 0);
        tenant.bytes -= size;
        bytes -= size;
      }
    });
    return writing;
  }

  return {
    /** @returns false where there is no room */
    add: (payload: NewPayload): boolean => {
      const { tenant_id: tenantId } = payload.content;
      const tenant = tenants.get(tenantId) ?? { payloads: [], bytes: 0 };
      const size = sizeOf(payload);
      const pending = { all: bytes + size, own: tenant.bytes + size };
      if (!isFair(pending, PENDING_BYTES) || !options.fitsOnDisk(tenantId, pending)) return false;
      bytes += size;
      tenant.bytes += size;
      tenant.payloads.push(payload);
      tenants.set(tenantId, tenant);
      timer ??= setTimeout(() => void flush(), COLLECT_MS);
      return true;
    },

    /** Writes the text in memory to disk. */
    flush,

    /** Runs something after the writes so far. */
    afterWrites: (work: () => Promise<void>): void => {
      writing = writing.then(work);
    },
  };
}

/** Whether a tenant uses no more than its share. */
export function isFair({ all, own }: UsedBytes, limit: number): boolean {
  return all <= limit && own <= SHARE_OF_FREE * (limit - all);
}
