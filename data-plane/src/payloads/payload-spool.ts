/**
 * Payloads on their way to the control plane: sealed to its key and kept in files, one for each
 * upload, until it has accepted them. The spool never delays a call: what does not fit, or cannot
 * be written, is dropped and reported. What was added shortly before a crash may be lost. Proven by
 * payload-spool.test.ts.
 */
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PayloadSealingKey } from '@governance/shared/data-protection-settings';
import {
  PAYLOAD_LIMITS,
  PAYLOAD_SEALING,
  type PayloadContent,
  type PayloadReceipt,
  PayloadUpload,
  type SealedPayload,
} from '@governance/shared/event-payload';
import { CompactEncrypt, importJWK } from 'jose';
import { createListeners } from '../storage/listeners.ts';

/**
 * Limit of one sealed upload: the control plane takes PAYLOAD_LIMITS.bytes including everything
 * around them.
 */
const UPLOAD_BYTES = 6 * 1024 * 1024;
/** Limit of text in memory, over all tenants. */
const PENDING_BYTES = 32 * 1024 * 1024;
/** Overhead of a payload beside its text. */
const OVERHEAD_BYTES = 1024;
/** Factor by which pending text is expected to grow on disk. */
const GROWTH = 1.5;
/**
 * A tenant may use this many times the space that is left. So a single tenant gets nearly
 * everything, several get equal shares, and a newcomer still finds room.
 */
const SHARE_OF_FREE = 8;
const COLLECT_MS = 100;
/** Payloads sealed longer ago are dropped: their record will not arrive any more. */
const EXPIRES_AFTER_MS = 7 * 86_400_000;

export interface NewPayload {
  content: PayloadContent;
  sealingKey: PayloadSealingKey;
}

export interface SpooledUpload {
  name: string;
  upload: PayloadUpload;
}

export type PayloadSpool = Awaited<ReturnType<typeof openPayloadSpool>>;

export interface PayloadSpoolOptions {
  /** Created if missing. */
  dir: string;
  /** Of all files together. */
  limitBytes: number;
  /** Called for payloads that were accepted and then lost. */
  onLost(tenantId: string, parts: number, reason: 'expired' | 'unwritable' | 'refused'): void;
  now(): number;
}

interface StoredFile {
  name: string;
  size: number;
}

/** What is stored of one tenant. */
interface TenantSpool {
  pending: NewPayload[];
  pendingBytes: number;
  /** In sending order. */
  files: StoredFile[];
  storedBytes: number;
}

/** Opens the folder, and counts what it has. */
export async function openPayloadSpool(options: PayloadSpoolOptions) {
  const { dir, now, onLost } = options;
  const tenants = new Map<string, TenantSpool>();
  const listeners = createListeners<[tenantId: string]>();
  let pendingBytes = 0;
  let storedBytes = 0;
  let counter = 0;
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();

  await mkdir(dir, { recursive: true, mode: 0o700 });
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const { name: tenantId } = entry;
    const names = await readdir(join(dir, tenantId));
    for (const name of names.sort((a, b) => numberOf(a) - numberOf(b))) {
      const path = join(dir, tenantId, name);
      if (!FILE.test(name)) {
        await rm(path, { force: true, recursive: true });
        continue;
      }
      counter = Math.max(counter, numberOf(name));
      noteFile(tenantId, { name, size: (await stat(path)).size });
    }
  }
  await dropExpired();

  function tenantOf(tenantId: string): TenantSpool {
    let tenant = tenants.get(tenantId);
    if (!tenant) {
      tenant = { pending: [], pendingBytes: 0, files: [], storedBytes: 0 };
      tenants.set(tenantId, tenant);
    }
    return tenant;
  }

  function noteFile(tenantId: string, file: StoredFile): void {
    const tenant = tenantOf(tenantId);
    tenant.files.push(file);
    tenant.storedBytes += file.size;
    storedBytes += file.size;
  }

  async function remove(tenantId: string, name: string): Promise<void> {
    await rm(join(dir, tenantId, name), { force: true });
    const tenant = tenantOf(tenantId);
    const index = tenant.files.findIndex((file) => file.name === name);
    const [file] = index === -1 ? [] : tenant.files.splice(index, 1);
    tenant.storedBytes -= file?.size ?? 0;
    storedBytes -= file?.size ?? 0;
  }

  function isExpired(name: string): boolean {
    return Number.parseInt(name, 10) + EXPIRES_AFTER_MS < now();
  }

  /** Includes tenants that this data plane no longer serves. */
  async function dropExpired(): Promise<void> {
    for (const [tenantId, { files }] of tenants) {
      for (const { name } of files.filter((file) => isExpired(file.name))) {
        await giveUp(tenantId, name, 'expired');
      }
    }
  }

  async function giveUp(tenantId: string, name: string, reason: 'expired' | 'unwritable') {
    const upload = await readUpload(join(dir, tenantId, name));
    await remove(tenantId, name);
    onLost(tenantId, upload?.payloads.length ?? 1, reason);
  }

  /** @param at when the oldest part in it was sealed */
  async function store(tenantId: string, at: number, payloads: SealedPayload[]): Promise<void> {
    counter += 1;
    const folder = join(dir, tenantId);
    const name = `${at}-${String(counter).padStart(12, '0')}.json`;
    const path = join(folder, name);
    const text = JSON.stringify({ payloads } satisfies PayloadUpload);
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeFile(`${path}.new`, text, { mode: 0o600 });
      await rename(`${path}.new`, path);
    } catch (error) {
      await rm(`${path}.new`, { force: true }).catch(() => undefined);
      throw error;
    }
    noteFile(tenantId, { name, size: Buffer.byteLength(text) });
  }

  async function write(tenantId: string, payloads: readonly NewPayload[]): Promise<void> {
    let sealed: SealedPayload[] = [];
    let bytes = 0;
    const end = async () => {
      const upload = sealed;
      sealed = [];
      bytes = 0;
      if (upload.length === 0) return;
      await store(tenantId, now(), upload).catch(() => {
        onLost(tenantId, upload.length, 'unwritable');
      });
    };
    for (const payload of payloads) {
      const part = await seal(payload).catch(() => onLost(tenantId, 1, 'unwritable'));
      if (!part) continue;
      const isFull = sealed.length === PAYLOAD_LIMITS.parts;
      if (isFull || bytes + part.jwe.length > UPLOAD_BYTES) await end();
      sealed.push(part);
      bytes += part.jwe.length;
    }
    await end();
    listeners.tell(tenantId);
  }

  function flush(): Promise<void> {
    if (timer) clearTimeout(timer);
    timer = null;
    const taken: { tenantId: string; payloads: NewPayload[] }[] = [];
    for (const [tenantId, tenant] of tenants) {
      if (tenant.pending.length > 0) taken.push({ tenantId, payloads: tenant.pending });
      tenant.pending = [];
    }
    writing = writing.then(async () => {
      for (const { tenantId, payloads } of taken) {
        await write(tenantId, payloads);
        const size = payloads.reduce((sum, payload) => sum + sizeOf(payload), 0);
        tenantOf(tenantId).pendingBytes -= size;
        pendingBytes -= size;
      }
    });
    return writing;
  }

  function hasRoom(tenant: TenantSpool, size: number): boolean {
    const pending = { all: pendingBytes + size, own: tenant.pendingBytes + size };
    if (!isFair(pending, PENDING_BYTES)) return false;
    const all = storedBytes + pending.all * GROWTH;
    return isFair({ all, own: tenant.storedBytes + pending.own * GROWTH }, options.limitBytes);
  }

  return {
    /** @returns false where there is no room; it is then not kept */
    add: (payload: NewPayload): boolean => {
      const tenant = tenantOf(payload.content.tenant_id);
      const size = sizeOf(payload);
      if (!hasRoom(tenant, size)) {
        writing = writing.then(dropExpired).catch(() => undefined);
        return false;
      }
      pendingBytes += size;
      tenant.pendingBytes += size;
      tenant.pending.push(payload);
      timer ??= setTimeout(() => void flush(), COLLECT_MS);
      return true;
    },

    /**
     * The tenant's oldest upload; null when none waits.
     *
     * @param isPutOff by an upload's name: it is left out
     */
    next: async (
      tenantId: string,
      isPutOff: (name: string) => boolean = () => false,
    ): Promise<SpooledUpload | null> => {
      for (;;) {
        const file = tenants.get(tenantId)?.files.find((one) => !isPutOff(one.name));
        if (file === undefined) return null;
        const { name } = file;
        const upload = isExpired(name) ? undefined : await readUpload(join(dir, tenantId, name));
        if (upload) return { name, upload };
        await giveUp(tenantId, name, isExpired(name) ? 'expired' : 'unwritable');
      }
    },

    /** Removes what the control plane has accepted or refused; the rest moves to the end. */
    settle: async (
      tenantId: string,
      { name, upload }: SpooledUpload,
      { results }: PayloadReceipt,
    ): Promise<void> => {
      const { payloads } = upload;
      const waiting = payloads.filter((_, index) => results[index] === 'waiting');
      const refused = results.filter((result) => result === 'refused').length;
      if (waiting.length > 0) await store(tenantId, Number.parseInt(name, 10), waiting);
      await remove(tenantId, name);
      if (refused > 0) onLost(tenantId, refused, 'refused');
    },

    /** Splits an upload that is too large to send; a single part is dropped. */
    halve: async (
      tenantId: string,
      { name, upload: { payloads } }: SpooledUpload,
    ): Promise<void> => {
      const middle = Math.ceil(payloads.length / 2);
      for (const half of [payloads.slice(0, middle), payloads.slice(middle)]) {
        if (payloads.length > 1) await store(tenantId, Number.parseInt(name, 10), half);
      }
      await remove(tenantId, name);
      if (payloads.length === 1) onLost(tenantId, 1, 'refused');
    },

    /** Calls back when an upload of a tenant was written; returns the unsubscribe. */
    onAdded: listeners.add,
    /** Bytes on disk. */
    bytes: (): number => storedBytes,
    /** Writes the text in memory to disk. */
    flush,
  };
}

function isFair({ all, own }: { all: number; own: number }, limit: number): boolean {
  return all <= limit && own <= SHARE_OF_FREE * (limit - all);
}

/** When it was sealed, in milliseconds, and its number. */
const FILE = /^\d{1,15}-\d{12}\.json$/;

function numberOf(name: string): number {
  return Number(name.slice(name.indexOf('-') + 1, -'.json'.length));
}

function sizeOf({ content }: NewPayload): number {
  return Buffer.byteLength(content.text) + OVERHEAD_BYTES;
}

async function seal({ content, sealingKey }: NewPayload): Promise<SealedPayload> {
  const { kty, crv, x, kid } = sealingKey;
  const key = await importJWK({ kty, crv, x }, PAYLOAD_SEALING.alg);
  const jwe = await new CompactEncrypt(Buffer.from(JSON.stringify(content)))
    .setProtectedHeader({ ...PAYLOAD_SEALING, kid })
    .encrypt(key);
  return { event_id: content.event_id, part: content.part, jwe };
}

async function readUpload(path: string): Promise<PayloadUpload | undefined> {
  try {
    return PayloadUpload.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch {
    return undefined;
  }
}
