/**
 * The OPA servers of the tenants that this data plane serves: created on first use, with alerts
 * when unhealthy.
 */
import type { Registry } from 'prom-client';
import type { Alert } from '../alerts/alert.ts';
import type { RaiseAlert } from '../alerts/raise-alert.ts';
import { createGauges } from '../core/gauges.ts';
import type { SyncLog } from '../sync/link/sync-failure.ts';
import { findTenantProblem } from './opa-address.ts';
import { createOpaExchange } from './opa-exchange.ts';
import { createOpaServer, type OpaServer, type OpaServerStatus } from './opa-server.ts';
import type { OpaConfig } from './opa-settings.ts';

export type OpaServers = ReturnType<typeof createOpaServers>;

export type OpaTrouble = 'unavailable' | 'bundle' | 'answer';

const CONNECTIONS = 64;
const STATES = ['unknown', 'ok', 'unreachable', 'no_bundle', 'wrong_tenant', 'refused'] as const;

export function createOpaServers(options: {
  config: OpaConfig;
  /** How many tenants this data plane serves. */
  countTenants(): number;
  alert: RaiseAlert;
  registry: Registry;
  log: SyncLog;
}) {
  const { config, countTenants, alert, registry, log } = options;
  const servers = new Map<string, OpaServer>();

  function raise(tenantId: string, what: OpaTrouble, details: Record<string, unknown>): void {
    const isAllowed = what === 'unavailable' && !config.failClosed;
    alert(tenantId, { ...ALERTS[isAllowed ? 'unavailable_allowed' : what], details });
  }

  function onState(tenantId: string, status: OpaServerStatus): void {
    const { state, message } = status;
    if (state === 'ok') {
      log.info({ tenantId, revision: status.revision }, 'the OPA server decides');
      return;
    }
    log.warn({ tenantId, state, reason: message }, 'the OPA server is not healthy');
    if (state === 'unreachable') raise(tenantId, 'unavailable', { state, message });
    else if (state === 'refused') raise(tenantId, 'answer', { state, message });
    else raise(tenantId, 'bundle', { state, message });
  }

  function of(tenantId: string): OpaServer {
    const known = servers.get(tenantId);
    if (known) return known;
    const base = config.address.of(tenantId);
    const token = config.token?.reveal() ?? null;
    const server = createOpaServer({
      tenantId,
      exchange: createOpaExchange(base, token, CONNECTIONS),
      probes: createOpaExchange(base, token, 1),
      timeoutMs: config.timeoutMs,
      findTenantProblem: () => findTenantProblem(config.address, countTenants()),
      onState: (status) => onState(tenantId, status),
    });
    servers.set(tenantId, server);
    return server;
  }

  createGauges(registry)(
    'governance_opa_servers',
    'OPA servers by the state that the last probe found them in.',
    ['state'],
    (set) => {
      const states = [...servers.values()].map((server) => server.status().state);
      for (const state of STATES) set({ state }, states.filter((one) => one === state).length);
    },
  );

  return {
    timeoutMs: config.timeoutMs,
    failClosed: config.failClosed,
    of,
    /** The state of these tenants' servers; those never asked before are probed first. */
    async status(tenantIds: readonly string[]): Promise<OpaServerStatus[]> {
      const own = tenantIds.map(of);
      const states = await Promise.all(
        own.map((server) => {
          const status = server.status();
          return status.state === 'unknown' ? server.look() : status;
        }),
      );
      // Where several tenants share an address, it counts for the one that it decides for.
      const counted = states.filter((_, index) => own[index]?.findNoAddress() === undefined);
      return counted.length > 0 ? counted : states;
    },
    alert: raise,
    async stop(): Promise<void> {
      await Promise.all([...servers.values()].map((server) => server.stop()));
    },
  };
}

const ALERTS: Record<OpaTrouble | 'unavailable_allowed', Omit<Alert, 'details'>> = {
  unavailable: {
    alert_type: 'OPA_UNAVAILABLE',
    severity: 'critical',
    title: 'The OPA server cannot be reached: every tool call is denied',
    dedupe_key: 'opa-unavailable',
  },
  unavailable_allowed: {
    alert_type: 'OPA_UNAVAILABLE_ALLOWED',
    severity: 'critical',
    title: 'The OPA server cannot be reached: tool calls are allowed without a judgement',
    dedupe_key: 'opa-unavailable-allowed',
  },
  bundle: {
    alert_type: 'OPA_BUNDLE_DIFFERS',
    severity: 'high',
    title: 'The OPA server has another bundle than this data plane; its calls are denied',
    dedupe_key: 'opa-bundle-differs',
  },
  answer: {
    alert_type: 'OPA_ANSWER_REFUSED',
    severity: 'high',
    title: 'The OPA server gives answers that are no decision; the calls are denied',
    dedupe_key: 'opa-answer-refused',
  },
};
