/** Recently compiled sets by their digest: bounded in number and bytes, least recently used out. */
export interface CompileCache<T> {
  find(digest: string): T | undefined;
  put(digest: string, value: T, bytes: number): void;
  drop(digest: string): void;
}

/**
 * @param maxEntries how many results are kept
 * @param maxBytes how many bytes they may have together; a larger one is not kept
 */
export function createCompileCache<T>(maxEntries: number, maxBytes: number): CompileCache<T> {
  const entries = new Map<string, { value: T; bytes: number }>();
  let total = 0;
  const drop = (digest: string) => {
    total -= entries.get(digest)?.bytes ?? 0;
    entries.delete(digest);
  };
  return {
    drop,
    find(digest) {
      const entry = entries.get(digest);
      if (!entry) return undefined;
      entries.delete(digest);
      entries.set(digest, entry);
      return entry.value;
    },
    put(digest, value, bytes) {
      drop(digest);
      if (bytes > maxBytes) return;
      entries.set(digest, { value, bytes });
      total += bytes;
      for (const oldest of entries.keys()) {
        if (entries.size <= maxEntries && total <= maxBytes) break;
        drop(oldest);
      }
    },
  };
}
