import { Counter, Histogram, type Registry } from 'prom-client';
import type { LedgerObserver } from '../ledger/ledger.ts';
import type { DataPlaneCore } from './data-plane-core.ts';
import { createGauges } from './gauges.ts';
import { watchSync } from './sync-metrics.ts';

const COMMIT_BUCKETS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2];
const GROUP_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
const CONDITIONS = ['ok', 'warning', 'full', 'failed'] as const;

/**
 * Registers the metrics of ledger and synchronisation.
 *
 * @returns `observer`, an option of the core; `watch`, to be called with the core; `watchSwitch`,
 *   to be called with the local kill switch
 */
export function createCoreMetrics(registry: Registry) {
  const registers = [registry];
  const seconds = new Histogram({
    name: 'governance_ledger_commit_seconds',
    help: 'A group commit of the ledger, from its start until the disk has it.',
    buckets: COMMIT_BUCKETS,
    registers,
  });
  const group = new Histogram({
    name: 'governance_ledger_group_records',
    help: 'Records in one commit of the ledger.',
    buckets: GROUP_BUCKETS,
    registers,
  });
  const records = new Counter({
    name: 'governance_ledger_records_total',
    help: 'Records made durable by the ledger.',
    registers,
  });
  const observer: LedgerObserver = {
    committed: (count, took) => {
      seconds.observe(took);
      group.observe(count);
      records.inc(count);
    },
  };

  const gauge = createGauges(registry);

  function watch(core: Pick<DataPlaneCore, 'status'>): void {
    watchSync(registry, core);
    gauge('governance_ledger_pending_records', 'Records that wait for the disk.', [], (set) =>
      set({}, core.status().ledger.pendingRecords),
    );
    gauge(
      'governance_ledger_condition',
      'Condition of the ledger: 1 for the one it is in.',
      ['condition'],
      (set) => {
        const { condition } = core.status().ledger;
        for (const name of CONDITIONS) set({ condition: name }, Number(name === condition));
      },
    );
    gauge(
      'governance_ledger_damaged_streams',
      'Streams in which the last check of what was shipped found damage.',
      [],
      (set) => set({}, core.status().ledgerCheck.damage.length),
    );
    gauge(
      'governance_feed_lag_entries',
      'Entries of the feed that are known and not yet applied, of all tenants.',
      [],
      (set) => {
        const lags = core.status().tenants.map(({ feed }) => Math.max(0, feed.head - feed.cursor));
        set(
          {},
          lags.reduce((sum, lag) => sum + lag, 0),
        );
      },
    );
    gauge(
      'governance_sync_failures',
      'Tenants whose part of the synchronisation fails at present.',
      ['part'],
      (set) => {
        const { tenants } = core.status();
        for (const part of ['feed', 'bundle', 'shipper', 'heartbeat'] as const) {
          set({ part }, tenants.filter((tenant) => tenant[part].failure !== null).length);
        }
      },
    );
  }

  function watchSwitch(localSwitch: { status(): { engaged: boolean; tenants: string[] } }): void {
    gauge(
      'governance_local_kill_switch_engaged',
      'The local kill switch: 1 while it is engaged for all tenants, or for some.',
      ['scope'],
      (set) => {
        const { engaged, tenants } = localSwitch.status();
        set({ scope: 'all' }, Number(engaged));
        set({ scope: 'tenant' }, Number(tenants.length > 0));
      },
    );
  }

  return { observer, watch, watchSwitch };
}
