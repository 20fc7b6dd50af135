/**
 * The state of a tenant's detectors between two runs: counts, and when an alert was raised, so that
 * neither a restart nor another replica reports the same again.
 */
import { isWithin } from '@governance/shared/time/durations';
import { type NewAlert, raiseAlert } from '../alerts/raise-alert.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';

export interface DetectorState {
  count: number;
  /** Unix milliseconds, by the clocks of data planes. */
  lastAt: number | null;
  /** Unix milliseconds, by the clock of the control plane. */
  alertedAt: number | null;
}

export interface StateKey {
  detector: string;
  subject: string;
  /** Distinguishes items of the subject; empty where there is only one. */
  item?: string;
}

export interface DetectorStates {
  /** Reads all items of these subjects. */
  load(subjects: readonly Pick<StateKey, 'detector' | 'subject'>[]): Promise<void>;
  /** A loaded item, with zero counts if none is stored; `save` writes changes to it. */
  of(key: StateKey): DetectorState;
  /** All items of a loaded subject. */
  itemsOf(key: StateKey): DetectorState[];
  /** Raises an alert, unless one with this key was raised within the cool-down or is unresolved. */
  raise(key: StateKey, coolDownMs: number, alert: Omit<NewAlert, 'now'>): Promise<void>;
  /** Saves the loaded items. */
  save(): Promise<void>;
}

interface Row {
  detector: string;
  subject: string;
  item: string;
  count: bigint;
  last_at: Date | null;
  alerted_at: Date | null;
}

/** @param times of the run: of its alerts, and of its rows */
export function detectorStates(
  tx: TenantTransaction,
  { now, writtenAt }: { now: Date; writtenAt: Date },
): DetectorStates {
  const { tenantId } = tx.scope;
  const loaded = new Map<string, Map<string, DetectorState>>();
  const used = new Map<DetectorState, Required<StateKey>>();
  const subjectOf = ({ detector, subject }: StateKey) => `${detector} ${subject}`;

  function itemsOf(key: StateKey): Map<string, DetectorState> {
    const known = loaded.get(subjectOf(key));
    if (known) return known;
    const items = new Map<string, DetectorState>();
    loaded.set(subjectOf(key), items);
    return items;
  }

  function of({ item = '', ...key }: StateKey): DetectorState {
    const items = itemsOf(key);
    const state = items.get(item) ?? { count: 0, lastAt: null, alertedAt: null };
    items.set(item, state);
    used.set(state, { ...key, item });
    return state;
  }

  return {
    load: async (subjects) => {
      const wanted = subjects.filter((key) => !loaded.has(subjectOf(key)));
      for (const key of wanted) itemsOf(key);
      if (wanted.length === 0) return;
      const rows = await tx.db.$queryRaw<Row[]>`
        SELECT detector, subject, item, count, last_at, alerted_at FROM detector_states
        WHERE tenant_id = ${tenantId}::uuid AND (detector, subject) IN (
          SELECT * FROM unnest(${wanted.map((key) => key.detector)}::text[],
            ${wanted.map((key) => key.subject)}::text[]))`;
      for (const { item, count, last_at, alerted_at, ...key } of rows) {
        itemsOf(key).set(item, {
          count: Number(count),
          lastAt: last_at?.getTime() ?? null,
          alertedAt: alerted_at?.getTime() ?? null,
        });
      }
    },
    of,
    itemsOf: (key) => [...itemsOf(key).values()],
    raise: async (key, coolDownMs, alert) => {
      const state = of(key);
      if (state.alertedAt !== null && isWithin(state.alertedAt, coolDownMs, now.getTime())) return;
      const id = await raiseAlert(tx, { ...alert, now });
      if (id !== undefined) state.alertedAt = now.getTime();
    },
    save: async () => {
      const states = [...used];
      if (states.length === 0) return;
      const time = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
      await tx.db.$executeRaw`
        INSERT INTO detector_states (tenant_id, detector, subject, item, count, last_at, alerted_at,
          updated_at)
        SELECT ${tenantId}::uuid, s.*, ${writtenAt}::timestamptz
        FROM unnest(${states.map(([, key]) => key.detector)}::text[],
          ${states.map(([, key]) => key.subject)}::text[],
          ${states.map(([, key]) => key.item)}::text[],
          ${states.map(([state]) => state.count)}::bigint[],
          ${states.map(([state]) => time(state.lastAt))}::timestamptz[],
          ${states.map(([state]) => time(state.alertedAt))}::timestamptz[]) AS s
        ON CONFLICT (tenant_id, detector, subject, item) DO UPDATE
        SET count = excluded.count, last_at = excluded.last_at,
          alerted_at = excluded.alerted_at, updated_at = excluded.updated_at`;
    },
  };
}
