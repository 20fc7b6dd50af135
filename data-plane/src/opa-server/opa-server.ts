/**
 * The OPA server of one tenant: asks it, watches its health, and works as a circuit breaker when it
 * is down. Only a server that fails a probe counts as unavailable: a single call that a healthy one
 * does not answer is denied, since its arguments may be the cause and an agent must not be able to
 * cause an outage. Where several tenants have one address, it is the server of the tenant whose
 * bundle it has: the others' calls are denied and never sent there. Proven by opa-server.test.ts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { shareRun } from '../storage/share-run.ts';
import { createAgentTurns } from './agent-turns.ts';
import {
  failed,
  type OpaAnswer,
  type OpaFailed,
  readDecision,
  readDocument,
} from './opa-answer.ts';
import type { OpaExchange } from './opa-exchange.ts';

/**
 * `unknown` before the first probe; `no_bundle`: it answers and has no bundle of ours;
 * `wrong_tenant`: it has another tenant's; `refused`: it answers with an error, or nonsense.
 */
type OpaState = 'unknown' | 'ok' | 'unreachable' | 'no_bundle' | 'wrong_tenant' | 'refused';

export type OpaReaction = OpaAnswer | { kind: 'unavailable'; message: string };

export interface OpaServerStatus {
  state: OpaState;
  /** The revision of its bundle at the last probe. */
  revision: number | null;
  message: string;
}

export type OpaServer = ReturnType<typeof createOpaServer>;

export interface OpaServerOptions {
  tenantId: string;
  /** For decisions. */
  exchange: OpaExchange;
  /** For probes, which must not queue behind decisions. */
  probes: OpaExchange;
  timeoutMs: number;
  /** Why this may be the server of another tenant, where several have its address. */
  findTenantProblem?(): string | undefined;
  onState(status: OpaServerStatus): void;
  /** The interval between two probes, while it is healthy and while it is not. */
  intervals?: { well: number; ill: number };
  maxAsked?: { calls: number; bytes: number };
  /** Questions of one agent at a time; further ones wait. */
  atOnce?: number;
}

const DECISION_PATH = 'v1/data/governance/decision?provenance=true';
const PROBE_PATH = 'v1/data/settings/tenant_id?provenance=true';
const INTERVALS = { well: 5_000, ill: 500 };
/** How often calls that wait for a revision poll, all of them together. */
const LOOK_MS = 25;
const PROBE_MS = 1_000;
/** Requests that may wait for one server, so that a slow one cannot fill the memory. */
const MAX_ASKED = { calls: 4_096, bytes: 256 * 1024 * 1024 };
/** Of 64 connections: a machine of two cores still answers probes and other agents. */
const AT_ONCE = 8;

export function createOpaServer(options: OpaServerOptions) {
  const { tenantId, exchange, probes, timeoutMs } = options;
  const intervals = options.intervals ?? INTERVALS;
  const maxAsked = options.maxAsked ?? MAX_ASKED;
  const asked = { calls: 0, bytes: 0 };
  const turns = createAgentTurns(options.atOnce ?? AT_ONCE);
  let current: OpaServerStatus = { state: 'unknown', revision: null, message: 'not asked yet' };
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  /** Whether a probe found this tenant's bundle there. */
  let isOurs = false;

  const probe = shareRun(probeOnce);
  const look = shareRun(() => sleep(LOOK_MS).then(probe));

  async function probeOnce(): Promise<OpaServerStatus> {
    clearTimeout(timer);
    const read = () => probes.send(PROBE_PATH, Math.min(PROBE_MS, timeoutMs)).then(readDocument);
    const first = await read();
    // A busy server is not away: it is asked once more.
    const isSlow = first.kind === 'failed' && first.failure === 'opa_timeout';
    const next = judgeProbe(isSlow && current.state === 'ok' ? await read() : first);
    if (stopped) return current;
    const isNews = next.state !== current.state;
    current = next;
    if (next.state === 'ok') isOurs = true;
    if (isNews) options.onState(next);
    // One that belongs to another tenant is settled: not every tenant has to probe it twice a
    // second.
    const isSettled = next.state === 'ok' || findNoAddress(next.state) !== undefined;
    const wait = isSettled ? intervals.well : intervals.ill;
    timer = setTimeout(() => void probe(), wait).unref();
    return next;
  }

  function judgeProbe(read: ReturnType<typeof readDocument>): OpaServerStatus {
    if (read.kind === 'failed') {
      const state = isSilent(read) ? 'unreachable' : 'refused';
      return { state, revision: null, message: `${read.failure}: ${read.message}` };
    }
    const { isDefined, value, revision } = read;
    if (!isDefined || revision === null) {
      return { state: 'no_bundle', revision: null, message: 'it has no bundle of this service' };
    }
    if (value !== tenantId) {
      return { state: 'wrong_tenant', revision: null, message: "it has another tenant's bundle" };
    }
    return { state: 'ok', revision, message: 'ok' };
  }

  /** Why nothing may be sent to a server that was never found to be this tenant's. */
  function findNoAddress(state: OpaState): string | undefined {
    return isOurs || state === 'ok' ? undefined : options.findTenantProblem?.();
  }

  async function exchangeOnce(agentId: string, input: string, ms: number): Promise<OpaAnswer> {
    asked.calls++;
    asked.bytes += input.length;
    const began = performance.now();
    try {
      if (!(await turns.take(agentId, ms))) return failed('opa_timeout', 'no turn for the agent');
      try {
        const left = ms - (performance.now() - began);
        if (left < 1) return failed('opa_timeout', 'the turn came too late');
        return readDecision(await exchange.send(DECISION_PATH, left, `{"input":${input}}`));
      } finally {
        turns.give(agentId);
      }
    } finally {
      asked.calls--;
      asked.bytes -= input.length;
    }
  }

  async function ask(agentId: string, input: string, ms: number): Promise<OpaReaction> {
    const { state, message } = current.state === 'unknown' ? await probe() : current;
    const problem = findNoAddress(state);
    if (problem) return failed('opa_no_address', problem);
    if (state === 'unreachable') return { kind: 'unavailable', message };
    if (state === 'wrong_tenant') return failed('opa_wrong_tenant', message);
    if (asked.calls >= maxAsked.calls || asked.bytes + input.length > maxAsked.bytes) {
      return failed('opa_overloaded', `${asked.calls} calls wait for it`);
    }
    const began = performance.now();
    const answer = await exchangeOnce(agentId, input, ms);
    if (answer.kind === 'judged' || !isSilent(answer)) return answer;
    const after = await probe();
    if (after.state === 'unreachable') return { kind: 'unavailable', message: after.message };
    // A kept connection may end with a server's restart: a question may be asked twice.
    const left = ms - (performance.now() - began);
    if (answer.failure === 'opa_timeout' || left < 1) return answer;
    return exchangeOnce(agentId, input, left);
  }

  return {
    /** Asks for a decision about an agent's call; never rejects. `input` is JSON. */
    ask,
    /** Probes again, as often as callers need, but at most every few milliseconds. */
    look,
    status: (): OpaServerStatus => current,
    /** Why it is not this tenant's server, where several have its address. */
    findNoAddress: (): string | undefined => findNoAddress(current.state),
    async stop(): Promise<void> {
      stopped = true;
      clearTimeout(timer);
      await Promise.all([exchange.close(), probes.close()]);
    },
  };
}

function isSilent({ failure }: OpaFailed): boolean {
  return failure === 'opa_unreachable' || failure === 'opa_timeout';
}
