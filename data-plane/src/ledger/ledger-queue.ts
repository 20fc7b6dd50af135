/**
 * The bounded queue of records that wait to be committed. A record whose author waits for it is due
 * at the end of the tick; what nobody awaits is committed with the next such record, or after
 * OUTCOME_DELAY_MS.
 */
import type { UnchainedRecord } from '@governance/shared/ledger/ledger-record';
import type { AppendedRecord } from '../contracts.ts';
import type { Group } from './ledger-committer.ts';
import type { LedgerError } from './ledger-error.ts';
import type { GroupItem, GroupRecord } from './ledger-writer.ts';

const MAX_PENDING_CHARACTERS = 64 * 1024 * 1024;
/**
 * Limits how long a record waits for the others of its group, and how long a group blocks the main
 * thread.
 */
const MAX_GROUP_RECORDS = 512;
const MAX_GROUP_CHARACTERS = 1024 * 1024;
/** How long such a record waits at most for an awaited record. */
const OUTCOME_DELAY_MS = 5;
/** What nobody awaits: how a call went that was decided and sent. */
const UNAWAITED: ReadonlySet<string> = new Set(['outcome', 'answer_started']);

interface Entry {
  /** Null for an entry that only waits until all entries before it are on disk or refused. */
  item: GroupItem | null;
  tenantId: string;
  isUrgent: boolean;
  /** Whether its author awaits it. */
  isAwaited: boolean;
  /** Its size, counted against MAX_PENDING_CHARACTERS. */
  characters: number;
  resolve(appended: AppendedRecord | undefined): void;
  reject(error: unknown): void;
}

/** Records of a tenant that became durable together. */
export interface Settled {
  tenantId: string;
  isUrgent: boolean;
  records: number;
  characters: number;
}

const URGENT: ReadonlySet<string> = new Set(['alert', 'hold_opened', 'result_held']);
/** What an entry without a record has of a record's members. */
const WITHOUT_RECORD = { tenantId: '', isUrgent: false, isAwaited: true, characters: 0 };

/**
 * @param options.run called when something is due
 * @param options.settled called for each tenant whose records are on disk, after their authors were
 *   told
 */
export function createLedgerQueue(options: {
  maxRecords: number;
  run: () => void;
  settled: (of: Settled) => void;
}) {
  let waiting: Entry[] = [];
  let underWay: Entry[] = [];
  let characters = 0;
  /** Whether one of the waiting entries is awaited. */
  let isDue = false;
  let isScheduled = false;
  let end: LedgerError | null = null;
  let timer: NodeJS.Timeout | null = null;

  /** Resolves when the item is on disk. */
  function add(item: GroupItem | null): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (end) throw end;
      waiting.push({ item, ...WITHOUT_RECORD, resolve, reject });
      makeDue();
    });
  }

  /** Resolves when the record is on disk. */
  function addRecord(
    record: GroupRecord,
    tenantId: string,
    type: UnchainedRecord['type'],
    size: number,
  ): Promise<AppendedRecord> {
    return new Promise<AppendedRecord | undefined>((resolve, reject) => {
      if (end) throw end;
      // People wait for these to arrive at the control plane.
      const isUrgent = URGENT.has(type);
      const isAwaited = !UNAWAITED.has(type);
      const item = record;
      waiting.push({ item, tenantId, isUrgent, isAwaited, characters: size, resolve, reject });
      characters += size;
      if (isAwaited) makeDue();
      else timer ??= setTimeout(makeDue, OUTCOME_DELAY_MS);
    }) as Promise<AppendedRecord>;
  }

  /** Has a group taken at the end of the tick. */
  function makeDue(): void {
    isDue = true;
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      options.run();
    });
  }

  function take(): Group | null {
    if (!isDue || waiting.length === 0) return null;
    let size = 0;
    let count = 0;
    for (const entry of waiting) {
      if (count > 0 && size + entry.characters > MAX_GROUP_CHARACTERS) break;
      size += entry.characters;
      if (++count === MAX_GROUP_RECORDS) break;
    }
    underWay = waiting.splice(0, count);
    if (waiting.length === 0) makeNothingDue();
    return {
      items: underWay.flatMap(({ item }) => item ?? []),
      characters: size,
      resolve: (chained) => settle(release(), chained),
      reject: (error) => refuse(release(), error),
      postpone: (error) => postpone(release(), error),
    };
  }

  /** Refuses what is awaited, and puts the rest back at the beginning of the queue. */
  function postpone(entries: Entry[], error: unknown): void {
    const awaited = entries.filter(({ isAwaited }) => isAwaited);
    refuse(awaited, error);
    const later = entries.filter(({ isAwaited }) => !isAwaited);
    waiting.unshift(...later);
    for (const entry of later) characters += entry.characters;
    if (later.length > 0) timer ??= setTimeout(makeDue, OUTCOME_DELAY_MS);
  }

  function refuse(entries: Entry[], error: unknown): void {
    for (const { item, resolve, reject } of entries) {
      if (item) reject(error);
      else resolve(undefined);
    }
  }

  function settle(entries: Entry[], chained: AppendedRecord[]): void {
    const tenants = new Map<string, Settled>();
    let next = 0;
    for (const { item, tenantId, isUrgent, characters: size, resolve } of entries) {
      if (!item || !('text' in item)) {
        resolve(undefined);
        continue;
      }
      resolve(chained[next++]);
      const tenant = tenants.get(tenantId) ?? {
        tenantId,
        isUrgent: false,
        records: 0,
        characters: 0,
      };
      tenants.set(tenantId, tenant);
      tenant.isUrgent ||= isUrgent;
      tenant.records++;
      tenant.characters += size;
    }
    for (const tenant of tenants.values()) options.settled(tenant);
  }

  function makeNothingDue(): void {
    isDue = false;
    if (timer) clearTimeout(timer);
    timer = null;
  }

  /** Ends the group under way. @returns its entries */
  function release(): Entry[] {
    const entries = underWay;
    underWay = [];
    for (const entry of entries) characters -= entry.characters;
    return entries;
  }

  return {
    add,
    addRecord,
    take,
    size: () => waiting.length + underWay.length,
    hasRoom: (more: number) =>
      waiting.length + underWay.length < options.maxRecords &&
      characters + more <= MAX_PENDING_CHARACTERS,
    /** Resolves when everything added so far is on disk, or refused. */
    drained: async (): Promise<void> => {
      if (waiting.length + underWay.length > 0) await add(null);
    },
    /** Refuses all waiting records, and all later ones. */
    fail: (error: LedgerError) => {
      end = error;
      for (const { reject } of [...release(), ...waiting]) reject(error);
      waiting = [];
      makeNothingDue();
    },
  };
}
