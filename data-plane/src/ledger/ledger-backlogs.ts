/**
 * How much of each tenant waits to be shipped: counted as records come and go, so that nobody reads
 * the ledger for it.
 */
export interface Amount {
  records: number;
  /**
   * A record has about as many bytes. Those that waited at the start are not counted: their sizes
   * are not known.
   */
  characters: number;
}

const NOTHING: Amount = { records: 0, characters: 0 };

export function createLedgerBacklogs() {
  const waiting = new Map<string, Amount>();
  const of = (tenantId: string): Amount => waiting.get(tenantId) ?? NOTHING;
  return {
    of,
    /** The records were counted in the file. */
    recount: (tenantId: string, records: number): void => {
      waiting.set(tenantId, { ...of(tenantId), records });
    },
    add: (tenantId: string, more: Amount): void => {
      const { records, characters } = of(tenantId);
      waiting.set(tenantId, {
        records: records + more.records,
        characters: characters + more.characters,
      });
    },
    take: (tenantId: string, less: Amount): void => {
      const { records, characters } = of(tenantId);
      waiting.set(tenantId, {
        records: Math.max(0, records - less.records),
        characters: Math.max(0, characters - less.characters),
      });
    },
  };
}
