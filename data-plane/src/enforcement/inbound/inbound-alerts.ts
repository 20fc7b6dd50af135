/**
 * Alerts on findings in server text: one for each source and kind of finding, and one when a source
 * keeps sending findings that are too weak to be replaced. Memory and the number of alerts are
 * limited for each tenant: records and metrics have every finding anyway.
 */

import { hash } from 'node:crypto';
import type { InboundFinding } from '@governance/shared/detect/findings';
import { isWithin, MINUTE_MS } from '@governance/shared/time/durations';
import { LRUCache } from 'lru-cache';
import type { RaiseAlert } from '../../alerts/raise-alert.ts';
import { shownName } from '../call/call-kinds.ts';
import type { ReceivedMessage } from '../call/received-message.ts';
import { worstOf } from '../call/severities.ts';

/** Alerts of one tenant per minute. */
const MAX_ALERTS = 60;
/** Those of one severity about one server: it must silence neither others nor what is graver. */
const MAX_ALIKE = 10;
/**
 * Different texts with findings that were passed on from one source to one agent within the window,
 * from which INJECTION_CONDITIONING_SUSPECTED is raised.
 */
const CONDITIONING_TIMES = 5;
const CONDITIONING_WINDOW_MS = 30 * 60_000;
/** Pairs of agent and source that are watched for each tenant. */
const MAX_WATCHED = 2_000;
const MAX_TENANTS = 1_000;
const MAX_NAMED = 10;

/** The classes of some findings, without duplicates. */
export function classesOf(findings: readonly Pick<InboundFinding, 'class'>[]): string[] {
  return [...new Set(findings.map((finding) => finding.class))].sort();
}

/** What was done about an answer or message of a server, and why. */
export interface InboundEvent {
  readonly received: ReceivedMessage;
  readonly serverId: string;
  readonly action: 'passed' | 'held' | 'substituted' | 'blocked';
  readonly findings: readonly InboundFinding[];
  /** The source rule that blocked the part, or raised the severity of its findings. */
  readonly ruleId?: string | undefined;
  /** For a list: the names of the items concerned. */
  readonly items?: readonly string[];
}

/** Raises alerts on findings. Never throws. */
export type ReportInbound = (event: InboundEvent) => void;

interface Tenant {
  minute: number;
  alerts: number;
  readonly alike: Map<string, number>;
  /** By agent and source: when texts with findings were passed on, keyed by their findings. */
  readonly passed: LRUCache<string, Map<string, number>>;
}

/**
 * Creates the function that raises the alerts.
 *
 * @param now Unix milliseconds
 */
export function createInboundAlerts(deps: { raise: RaiseAlert; now(): number }): ReportInbound {
  const tenants = new LRUCache<string, Tenant>({ max: MAX_TENANTS });

  function tenantOf(tenantId: string): Tenant {
    const known = tenants.get(tenantId);
    if (known !== undefined) return known;
    const made = {
      minute: 0,
      alerts: 0,
      alike: new Map<string, number>(),
      passed: new LRUCache<string, Map<string, number>>({ max: MAX_WATCHED }),
    };
    tenants.set(tenantId, made);
    return made;
  }

  function raise(
    tenant: Tenant,
    { received: { caller }, serverId }: InboundEvent,
    alert: Parameters<RaiseAlert>[1],
  ): void {
    const minute = Math.floor(deps.now() / MINUTE_MS);
    if (tenant.minute !== minute) {
      tenant.minute = minute;
      tenant.alerts = 0;
      tenant.alike.clear();
    }
    const kind = `${serverId} ${alert.severity}`;
    const alike = tenant.alike.get(kind) ?? 0;
    if (alike >= MAX_ALIKE || tenant.alerts >= MAX_ALERTS) return;
    tenant.alerts++;
    tenant.alike.set(kind, alike + 1);
    deps.raise(caller.tenantId, alert);
  }

  return (event) => {
    const { received, serverId, action, findings } = event;
    const { tenantId, agent } = received.caller;
    const tenant = tenantOf(tenantId);
    const isPassed = action === 'passed';
    const severity = action === 'blocked' ? 'medium' : worstOf(findings);
    const name = placeOf(received);
    raise(tenant, event, {
      alert_type:
        isPassed || action === 'held' ? 'INBOUND_INJECTION_DETECTED' : 'INBOUND_INJECTION_BLOCKED',
      severity,
      title: TITLES[action],
      agent_id: agent.id,
      bundle_revision: received.call?.rules.revision ?? null,
      details: { ...detailsOf(event), mcp_server: serverId, ...name },
      dedupe_key: `inbound-${action}:${severity}:${serverId}/${name.method}/${name.tool_name ?? ''}`,
    });
    if (!isPassed) return;
    const attempts = countPassed(tenant, `${agent.id} ${serverId}`, findings, deps.now());
    if (attempts < CONDITIONING_TIMES) return;
    raise(tenant, event, {
      alert_type: 'INJECTION_CONDITIONING_SUSPECTED',
      severity: 'high',
      title: 'A source keeps sending an agent possible injections that are too weak to be replaced',
      agent_id: agent.id,
      details: {
        mcp_server: serverId,
        findings: attempts,
        window_minutes: CONDITIONING_WINDOW_MS / MINUTE_MS,
        classes: classesOf(findings),
      },
      dedupe_key: `inbound-conditioning:${agent.id}:${serverId}`,
    });
  };
}

const TITLES = {
  passed: 'Text of an MCP server looks like an injection; it was passed on',
  held: 'Text of an MCP server looks like an injection; it waits for a person',
  substituted: 'Text of an MCP server looks like an injection; it was replaced',
  blocked: 'What came from a blocked source was replaced',
} as const;

/** Counts a text with findings; the same text counts once, since a page may be read often. */
function countPassed(
  { passed }: Tenant,
  key: string,
  findings: readonly InboundFinding[],
  now: number,
): number {
  const times = passed.get(key) ?? new Map<string, number>();
  passed.set(key, times);
  const text = findings.map((one) => `${one.class} ${one.place} ${one.length} ${one.score}`).join();
  times.set(hash('sha256', text, 'base64'), now);
  for (const [known, at] of times)
    if (!isWithin(at, CONDITIONING_WINDOW_MS, now)) times.delete(known);
  const { size } = times;
  if (size >= CONDITIONING_TIMES) times.clear();
  return size;
}

/** Where the text came from, by names of MCP and of the agent's request. */
function placeOf({ call, part }: ReceivedMessage): { method: string; tool_name?: string } {
  const notified = part.kind === 'notification' ? part.method : undefined;
  if (call === null) return { method: shown(notified ?? 'server') };
  const isTool = call.ask.method === 'tools/call';
  return {
    method: shown(notified ?? call.ask.method),
    ...(isTool && { tool_name: shown(shownName(call)) }),
  };
}

function detailsOf({ received, action, findings, ruleId, items }: InboundEvent) {
  return {
    event_id: received.call?.id ?? null,
    action,
    classes: classesOf(findings),
    findings: findings.length,
    score: Math.max(0, ...findings.map(({ score }) => score)),
    scores: findings.slice(0, MAX_NAMED).map(({ score }) => score),
    ...(ruleId !== undefined && { rule_id: ruleId }),
    ...(items !== undefined && {
      items: items.slice(0, MAX_NAMED).map(shown),
      items_total: items.length,
    }),
  };
}

/** Hides an invalid name, which is arbitrary text: alerts contain no such text. */
function shown(name: string): string {
  return /^[A-Za-z0-9_.:/+-]{1,128}$/.test(name) ? name : '(no plain name)';
}
