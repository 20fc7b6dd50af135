/**
 * One read for all simultaneous callers with the same question about a tenant. A change of the
 * tenant ends the sharing: later callers get a read that began after it (tenant-listeners.test.ts).
 */
import type { ChangeBus } from '../platform/database/change-bus.ts';

export interface SharedReads<T> {
  read(tenantId: string, key: string, read: () => Promise<T>): Promise<T>;
  /** Counts the changes of the tenant's feed that this process heard of, and may have missed. */
  version(tenantId: string): number;
  close(): void;
}

export function createSharedReads<T>(changes: Pick<ChangeBus, 'subscribe'>): SharedReads<T> {
  const running = new Map<string, Map<string, Promise<T>>>();
  const versions = new Map<string, number>();
  let missed = 0;
  const unsubscribe = changes.subscribe(
    ({ tenantId, feedSeq }) => {
      if (feedSeq === undefined) return;
      running.delete(tenantId);
      versions.set(tenantId, (versions.get(tenantId) ?? 0) + 1);
    },
    () => {
      running.clear();
      missed++;
    },
  );
  return {
    read: (tenantId, key, read) => {
      const reads = running.get(tenantId) ?? new Map<string, Promise<T>>();
      running.set(tenantId, reads);
      const known = reads.get(key);
      if (known) return known;
      const reading = read().finally(() => {
        if (reads.get(key) === reading) reads.delete(key);
        if (reads.size === 0 && running.get(tenantId) === reads) running.delete(tenantId);
      });
      reads.set(key, reading);
      return reading;
    },
    // Both only rise, so no version occurs twice.
    version: (tenantId) => (versions.get(tenantId) ?? 0) + missed,
    close: unsubscribe,
  };
}
