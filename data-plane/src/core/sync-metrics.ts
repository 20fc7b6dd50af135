import { Counter, type Registry } from 'prom-client';
import { CONTACT_STATES } from '../sync/link/contact.ts';
import type { DataPlaneCore, TenantStatus } from './data-plane-core.ts';
import { createGauges } from './gauges.ts';

type Read = (tenant: TenantStatus) => number | null | undefined;

/** One series for each tenant. */
const OF_TENANTS: readonly [name: string, help: string, read: Read][] = [
  [
    'governance_ledger_backlog_records',
    'Records that wait to be shipped to the control plane.',
    ({ shipper }) => shipper.backlog,
  ],
  [
    'governance_stream_stopped',
    '1 where the records of a tenant no longer reach the control plane and an operator has to act.',
    ({ stream }) => Number(stream.is_stopped),
  ],
  [
    'governance_feed_cursor',
    'The entry of the feed up to which facts were applied.',
    ({ feed }) => feed.cursor,
  ],
  ['governance_feed_head', 'The newest known entry of the feed.', ({ feed }) => feed.head],
  [
    'governance_statement_age_seconds',
    'Age of the newest verified statement of the control plane; none before the first.',
    ({ freshness }) => freshness.age_seconds,
  ],
  [
    'governance_bundle_revision',
    'The revision of the rules in force; none where there are no rules.',
    ({ bundle }) => bundle.active?.revision,
  ],
  [
    'governance_log_contradictions',
    'Times that the log of evidence contradicted what was seen of it before.',
    ({ log_watch: watch }) => watch?.contradictions,
  ],
  [
    'governance_log_shown_age_seconds',
    'Time since the log of evidence was last proven to continue what was seen of it; none before.',
    ({ log_watch: watch }) => watch?.shown_age_seconds,
  ],
  [
    'governance_token_renewals',
    'Renewals of the token for the control plane since the start; none in one process with it.',
    ({ token }) => token?.renewals,
  ],
];

/** Registers the metrics of the connection to the control plane. */
export function watchSync(registry: Registry, core: Pick<DataPlaneCore, 'status'>): void {
  const gauge = createGauges(registry);
  for (const [name, help, read] of OF_TENANTS) {
    gauge(name, help, ['tenant_id'], (set) => {
      for (const tenant of core.status().tenants)
        set({ tenant_id: tenant.tenant_id }, read(tenant));
    });
  }
  gauge(
    'governance_control_plane_state',
    'Tenants whose control plane is in this state, as this data plane sees it.',
    ['state'],
    (set) => {
      const { tenants } = core.status();
      for (const state of CONTACT_STATES) {
        set({ state }, tenants.filter(({ control_plane: seen }) => seen.state === state).length);
      }
    },
  );
  new Counter({
    name: 'governance_sync_refusals_total',
    help: 'What came from the control plane and was refused, by channel and reason.',
    labelNames: ['tenant_id', 'channel', 'code'],
    registers: [registry],
    collect() {
      // The loops keep these counts; each scrape copies them.
      this.reset();
      for (const { tenant_id, refusals } of core.status().tenants) {
        for (const channel of ['bundle', 'feed'] as const) {
          for (const [code, count] of Object.entries(refusals[channel])) {
            this.inc({ tenant_id, channel, code }, count);
          }
        }
      }
    },
  });
}
