/**
 * Sealed uploads on disk: one file for each upload, a folder for each tenant, in sending order. A
 * file is either whole or missing: it is written under a temporary name and renamed. Proven by
 * payload-spool.test.ts.
 */
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PayloadUpload, type SealedPayload } from '@governance/shared/evidence/event-payload';

/** Unix milliseconds at which the oldest part was sealed, and the sequence number. */
const FILE = /^\d{1,15}-\d{12}\.json$/;

interface StoredTenant {
  /** In sending order. */
  files: { name: string; size: number }[];
  bytes: number;
}

/** Opens the folder, created if missing, and counts the bytes in it. */
export async function openStoredUploads(dir: string) {
  const tenants = new Map<string, StoredTenant>();
  let bytes = 0;
  let counter = 0;

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
      note(tenantId, name, (await stat(path)).size);
    }
  }

  function note(tenantId: string, name: string, size: number): void {
    const tenant = tenants.get(tenantId) ?? { files: [], bytes: 0 };
    tenants.set(tenantId, tenant);
    tenant.files.push({ name, size });
    tenant.bytes += size;
    bytes += size;
  }

  return {
    /** Bytes of all tenants, including those that this data plane no longer serves. */
    bytes: (): number => bytes,
    bytesOf: (tenantId: string): number => tenants.get(tenantId)?.bytes ?? 0,
    tenantIds: (): string[] => [...tenants.keys()],
    /** In sending order. */
    filesOf: (tenantId: string): readonly { name: string }[] => tenants.get(tenantId)?.files ?? [],

    /** @returns undefined where the file cannot be read */
    read: async (tenantId: string, name: string): Promise<PayloadUpload | undefined> => {
      try {
        const text = await readFile(join(dir, tenantId, name), 'utf8');
        return PayloadUpload.parse(JSON.parse(text));
      } catch {
        return undefined;
      }
    },

    /** @param at Unix milliseconds at which the oldest part was sealed */
    store: async (tenantId: string, at: number, payloads: SealedPayload[]): Promise<void> => {
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
      note(tenantId, name, Buffer.byteLength(text));
    },

    /** @returns whether it was still there */
    remove: async (tenantId: string, name: string): Promise<boolean> => {
      await rm(join(dir, tenantId, name), { force: true });
      const tenant = tenants.get(tenantId);
      const index = tenant?.files.findIndex((file) => file.name === name) ?? -1;
      const [file] = index === -1 ? [] : (tenant?.files.splice(index, 1) ?? []);
      if (!tenant || !file) return false;
      tenant.bytes -= file.size;
      bytes -= file.size;
      return true;
    },
  };
}

/** When the oldest part of a file was sealed, in Unix milliseconds. */
export function sealedAt(name: string): number {
  return Number.parseInt(name, 10);
}

function numberOf(name: string): number {
  return Number(name.slice(name.indexOf('-') + 1, -'.json'.length));
}
