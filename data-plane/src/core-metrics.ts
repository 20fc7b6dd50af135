import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { LedgerObserver } from './ledger/ledger.ts';
import type { LocalSwitch } from './local-control/local-kill-switch.ts';
import { watchSync } from './sync/sync-metrics.ts';
import type { DataPlaneCore } from './tenant-runtime.ts';

const COMMIT_BUCKETS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2];
const GROUP_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
const CONDITIONS = ['ok', 'warning', 'full', 'failed'] as const;

/**
 * Registers the metrics of ledger and synchronisation.
 *
 * @returns `observer` for the core to be made with, and `watch` to be called with the core
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

  function watch(core: Pick<DataPlaneCore, 'status'>): void {
    watchSync(registry, core);
    new Gauge({
      name: 'governance_ledger_pending_records',
      help: 'Records that wait for the disk.',
      registers,
      collect() {
        this.set(core.status().ledger.pendingRecords);
      },
    });
    new Gauge({
      name: 'governance_ledger_condition',
      help: 'Condition of the ledger: 1 for the one it is in.',
      labelNames: ['condition'],
      registers,
      collect() {
        const { condition } = core.status().ledger;
        for (const name of CONDITIONS) this.set({ condition: name }, name === condition ? 1 : 0);
      },
    });
    new Gauge({
      name: 'governance_ledger_damaged_streams',
      help: 'Streams in which the last check of what was shipped found damage.',
      registers,
      collect() {
        this.set(core.status().ledgerCheck.damage.length);
      },
    });
    new Gauge({
      name: 'governance_feed_lag_entries',
      help: 'Entries of the feed that are known of and not yet applied, of all tenants.',
      registers,
      collect() {
        const { tenants } = core.status();
        this.set(tenants.reduce((sum, { feed }) => sum + Math.max(0, feed.head - feed.cursor), 0));
      },
    });
    new Gauge({
      name: 'governance_sync_failures',
      help: 'Tenants whose part of the synchronisation fails at present.',
      labelNames: ['part'],
      registers,
      collect() {
        const { tenants } = core.status();
        for (const part of ['feed', 'bundle', 'shipper', 'heartbeat'] as const) {
          this.set({ part }, tenants.filter((tenant) => tenant[part].failure !== null).length);
        }
      },
    });
  }

  function watchSwitch({ status }: Pick<LocalSwitch, 'status'>): void {
    new Gauge({
      name: 'governance_local_kill_switch_engaged',
      help: 'The local kill switch: 1 while it is engaged for all tenants, or for some.',
      labelNames: ['scope'],
      registers,
      collect() {
        const { engaged, tenants } = status();
        this.set({ scope: 'all' }, engaged ? 1 : 0);
        this.set({ scope: 'tenant' }, tenants.length > 0 ? 1 : 0);
      },
    });
  }

  return { observer, watch, watchSwitch };
}
