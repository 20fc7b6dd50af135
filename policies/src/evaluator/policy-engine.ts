/**
 * Evaluates a compiled policy. Every irregularity is a fault, and every fault is a denial for the
 * caller: a trap, no fuel, no memory, a failed built-in, no decision, a decision that is not
 * exactly one verdict. Nothing is thrown, and everything terminates (policy-engine.test.ts,
 * "hostile").
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { zodFault } from '@governance/shared/http/zod-fault';
import {
  type PolicyEngine,
  type PolicyInput,
  type PolicyOutcome,
  PolicyReason,
  PolicyVerdict,
} from '../contract.ts';
import { OWN_BUILTIN_FUNCTIONS } from './builtins/index.ts';
import { compilePolicyModule, type MeteredModule, PolicySandbox } from './policy-sandbox.ts';

/** The entrypoint of a compiled set of policies. */
export const DECISION_ENTRYPOINT = 'governance/decision';

const WARM_ROUNDS = 200;
/** The longest that warming up blocks other work. */
const WARM_SLICE_MS = 4;
const WARM_TOTAL_MS = 60;

export interface PolicyEngineOptions {
  /** Milliseconds since the epoch, for time.now_ns. */
  now?: () => number;
  /** The module made from this wasm before; compiled again if omitted. */
  compiled?: MeteredModule;
}

export interface LoadedPolicyEngine extends PolicyEngine {
  /** As `evaluate`, with the input as JSON text. Never throws. */
  evaluateRaw(inputJson: string): PolicyOutcome;
  /**
   * Replaces the data document (the settings) without compiling anything. Throws when it does not
   * fit the policy's memory; the previous data then stays in force.
   */
  setData(data: unknown): void;
  /** Runs sample decisions until the code is optimised: a cold one takes 5 to 20 times as long. */
  warm(): Promise<void>;
}

/**
 * Meters, compiles, instantiates and warms a policy.wasm.
 * Takes OPA's WebAssembly (unmetered, as a bundle holds it) and the data document.
 * Throws when the module is damaged, lacks the entrypoint, asks for a built-in that is not ours or
 * when the data does not fit: such a policy must not become active.
 */
export async function loadPolicyEngine(
  wasm: Uint8Array,
  data: unknown,
  options: PolicyEngineOptions = {},
): Promise<LoadedPolicyEngine> {
  const compiled = options.compiled ?? (await compilePolicyModule(wasm));
  const sandbox = new PolicySandbox(compiled, JSON.stringify(data), {
    builtins: OWN_BUILTIN_FUNCTIONS,
    now: options.now ?? Date.now,
  });
  if (!sandbox.hasEntrypoint(DECISION_ENTRYPOINT)) {
    throw new Error(`the policy has no entrypoint ${DECISION_ENTRYPOINT}`);
  }
  const engine = createEngine(sandbox);
  await engine.warm();
  return engine;
}

function createEngine(sandbox: PolicySandbox): LoadedPolicyEngine {
  // Most calls have the previous call's verdict; identical text means an identical verdict.
  let lastText = '';
  let lastOutcome: PolicyOutcome | undefined;
  const evaluateRaw = (inputJson: string): PolicyOutcome => {
    const result = sandbox.run(inputJson, DECISION_ENTRYPOINT);
    if (!result.ok) return result;
    if (lastOutcome === undefined || result.text !== lastText) {
      lastOutcome = frozen(readVerdict(result.text));
      lastText = result.text;
    }
    return lastOutcome;
  };
  return {
    evaluateRaw,
    evaluate(input) {
      let inputJson: string;
      try {
        inputJson = JSON.stringify(input);
      } catch {
        return { ok: false, fault: 'trap', message: 'the input cannot be written as JSON' };
      }
      return evaluateRaw(inputJson);
    },
    setData: (data) => sandbox.setData(JSON.stringify(data)),
    async warm() {
      const input = JSON.stringify(WARM_INPUT);
      const started = performance.now();
      let slice = started;
      for (let i = 0; i < WARM_ROUNDS; i++) {
        const result = sandbox.run(input, DECISION_ENTRYPOINT);
        const now = performance.now();
        if (!result.ok || now - started > WARM_TOTAL_MS) return;
        if (now - slice > WARM_SLICE_MS) {
          await nextTurn();
          slice = performance.now();
        }
      }
    },
  };
}

/** Shared between calls: none may change another's. */
function frozen(outcome: PolicyOutcome): PolicyOutcome {
  if (outcome.ok) {
    for (const reason of outcome.verdict.reasons) Object.freeze(reason);
    Object.freeze(outcome.verdict.reasons);
    Object.freeze(outcome.verdict);
  }
  return Object.freeze(outcome);
}

/** Reads OPA's result set: `[{"result": verdict}]`, or `[]` when there is no decision. */
function readVerdict(json: string): PolicyOutcome {
  const results: unknown = JSON.parse(json);
  if (!Array.isArray(results) || results.length === 0) {
    return { ok: false, fault: 'undefined', message: 'the policy gives no decision' };
  }
  if (results.length > 1) {
    return { ok: false, fault: 'malformed_verdict', message: 'more than one decision' };
  }
  return outcomeOfVerdict(results[0]?.result);
}

/** Validates any OPA's `data.governance.decision`: one well-formed verdict, or a fault. */
export function outcomeOfVerdict(value: unknown): PolicyOutcome {
  if (isVerdict(value)) {
    if (isConsistent(value)) return { ok: true, verdict: value };
    const message = `a decision ${value.decision} that its reasons contradict`;
    return { ok: false, fault: 'malformed_verdict', message };
  }
  const checked = PolicyVerdict.safeParse(value);
  const message = checked.success ? 'not a plain verdict' : zodFault(checked.error);
  return { ok: false, fault: 'malformed_verdict', message };
}

/**
 * Whether the reasons are ones that the aggregator gives with this decision: an OPA server that
 * answers `allow` beside a reason to deny is not believed, and an escalation asks something.
 */
function isConsistent({ decision, reasons }: PolicyVerdict): boolean {
  const has = (rule: PolicyReason['rule']) => reasons.some((reason) => reason.rule === rule);
  if (decision === 'deny') return true;
  return !has('deny') && has('escalate') === (decision === 'escalate');
}

const DECISIONS: readonly unknown[] = PolicyVerdict.shape.decision.options;
const RULES: readonly unknown[] = PolicyReason.shape.rule.options;

/** A hand-written `PolicyVerdict` check: zod takes longer than the rest of a small decision. */
export function isVerdict(value: unknown): value is PolicyVerdict {
  if (!isRecord(value) || Object.keys(value).length !== 2) return false;
  const { decision, reasons } = value;
  return DECISIONS.includes(decision) && Array.isArray(reasons) && reasons.every(isReason);
}

function isReason(value: unknown): boolean {
  return (
    isRecord(value) &&
    Object.keys(value).length === 4 &&
    typeof value.policy_id === 'string' &&
    typeof value.policy === 'string' &&
    typeof value.message === 'string' &&
    RULES.includes(value.rule)
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An ordinary call; its content does not matter. */
const WARM_INPUT: PolicyInput = {
  agent: {
    id: '00000000-0000-7000-8000-000000000000',
    name: 'warm-up',
    agent_type: 'assistant',
    owner: 'warm-up',
    roles: ['reader', 'writer'],
    permissions: ['files:read', 'files/*:write', '*:read'],
    risk_tier: 'medium',
    risk_score: 42.5,
  },
  request: {
    tool_name: 'write_file',
    action: 'write',
    resource: '/srv/data/warm-up.txt',
    parameters: { path: '/srv/data/warm-up.txt', lines: ['one', 'two'], options: { mode: 420 } },
    mcp_server: 'files',
    method: 'tools/call',
  },
  requester: { id: null, verified: false },
  workflow: null,
  delegation: null,
  dlp: { findings_count: 1, max_severity: 'low', patterns: ['email'] },
  context: {
    time: '2026-01-01T00:00:00.000Z',
    data_plane: 'warm-up',
    region: null,
    model: null,
    agent_role: null,
  },
};
