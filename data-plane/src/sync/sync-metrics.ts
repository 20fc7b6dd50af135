import { Counter, Gauge, type Registry } from 'prom-client';
import type { DataPlaneCore, TenantStatus } from '../tenant-runtime.ts';
import { CONTACT_STATES } from './contact.ts';

/** Registers the metrics of the way to the control plane, one series a tenant. */
export function watchSync(registry: Registry, core: Pick<DataPlaneCore, 'status'>): void {
  const ofTenants = (
    name: string,
    help: string,
    read: (tenant: TenantStatus) => number | null | undefined,
  ) => {
    new Gauge({
      name,
      help,
      labelNames: ['tenant_id'],
      registers: [registry],
      collect() {
        this.reset();
        for (const tenant of core.status().tenants) {
          const value = read(tenant);
          if (value !== null && value !== undefined) {
            this.set({ tenant_id: tenant.tenant_id }, value);
          }
        }
      },
    });
  };

  ofTenants(
    'governance_ledger_backlog_records',
    'Records that wait to be shipped to the control plane.',
    ({ shipper }) => shipper.backlog,
  );
  ofTenants(
    'governance_stream_stopped',
    '1 where the records of a tenant do not get to the control plane until somebody has looked.',
    ({ stream }) => Number(stream.is_stopped),
  );
  ofTenants(
    'governance_feed_cursor',
    'The entry of the feed up to which facts were applied.',
    ({ feed }) => feed.cursor,
  );
  ofTenants(
    'governance_feed_head',
    'The newest entry of the feed that is known of.',
    ({ feed }) => feed.head,
  );
  ofTenants(
    'governance_statement_age_seconds',
    'Age of the newest verified statement of the control plane; none before the first.',
    ({ freshness }) => freshness.age_seconds,
  );
  ofTenants(
    'governance_bundle_revision',
    'The revision of the rules in force; none where there are no rules.',
    ({ bundle }) => bundle.active?.revision,
  );
  ofTenants(
    'governance_token_renewals',
    'Renewals of the token for the control plane since the start; none in one process with it.',
    ({ token }) => token?.renewals,
  );
  new Counter({
    name: 'governance_sync_refusals_total',
    help: 'What came from the control plane and was refused, by channel and reason.',
    labelNames: ['tenant_id', 'channel', 'code'],
    registers: [registry],
    collect() {
      // Counted where it happens; here it is only shown.
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
  new Gauge({
    name: 'governance_control_plane_state',
    help: 'Tenants whose control plane is in this state, as this data plane sees it.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      const { tenants } = core.status();
      for (const state of CONTACT_STATES) {
        const count = tenants.filter(({ control_plane: seen }) => seen.state === state).length;
        this.set({ state }, count);
      }
    },
  });
}
