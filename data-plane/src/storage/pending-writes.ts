/**
 * Ledger writes that no caller awaits (outcomes, alerts). A stop loses none of them: it awaits
 * `flush` before it closes the ledger.
 */
export type PendingWrites = ReturnType<typeof createPendingWrites>;

/** Keeps track of unawaited writes. */
export function createPendingWrites(log: { error(fields: object, message: string): void }) {
  const pending = new Set<Promise<boolean>>();
  return {
    /**
     * Tracks a write in progress. A failure is logged: an operator has to act on it.
     *
     * @returns whether it was written. It never rejects.
     */
    track(what: string, write: Promise<unknown>): Promise<boolean> {
      const written = write.then(
        () => true,
        (error: unknown) => {
          log.error({ err: error, what }, 'a record could not be written to the ledger');
          return false;
        },
      );
      pending.add(written);
      void written.then(() => pending.delete(written));
      return written;
    },
    /** Resolves when all writes that were tracked have ended. */
    async flush(): Promise<void> {
      while (pending.size > 0) await Promise.all(pending);
    },
  };
}
