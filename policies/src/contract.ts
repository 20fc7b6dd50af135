/**
 * The input of a policy and its allowed results. Both planes and the compiler agree on these types;
 * docs/policy-contract.md describes them for the authors of policies.
 */
import { z } from 'zod';

/** The input of one decision, as OPA's `input`. */
export interface PolicyInput {
  agent: {
    id: string;
    name: string;
    agent_type: string;
    owner: string;
    roles: string[];
    permissions: string[];
    risk_tier: 'low' | 'medium' | 'high' | 'critical';
    risk_score: number;
  };
  request: {
    tool_name: string;
    action: 'read' | 'write' | 'delete' | 'execute';
    /** The target found in the arguments (path, URI, table, recipient), else the tool's name. */
    resource: string;
    parameters: Record<string, unknown>;
    /**
     * The agent's answers to the server's questions, when a call is repeated with them (MCP
     * 2026-07-28, multi round-trip requests). Absent otherwise.
     */
    input_responses?: Record<string, unknown>;
    /** The state with which such a call is repeated. A client can forge it. */
    request_state?: string;
    mcp_server: string;
    /** The MCP method, `tools/call` for a tool. */
    method: string;
  };
  requester: { id: string | null; verified: boolean };
  workflow: Record<string, unknown> | null;
  delegation: Record<string, unknown> | null;
  dlp: { findings_count: number; max_severity: string | null; patterns: string[] };
  context: {
    /** ISO 8601 UTC with milliseconds. */
    time: string;
    data_plane: string;
    region: string | null;
    model: string | null;
    agent_role: string | null;
  };
}

export const PolicyReason = z.strictObject({
  policy_id: z.string(),
  policy: z.string(),
  rule: z.enum(['deny', 'escalate', 'allow']),
  message: z.string(),
});
export type PolicyReason = z.infer<typeof PolicyReason>;

/** The one well-formed result of `data.governance.decision`; anything else is a denial. */
export const PolicyVerdict = z.strictObject({
  decision: z.enum(['allow', 'deny', 'escalate']),
  reasons: z.array(PolicyReason),
});
export type PolicyVerdict = z.infer<typeof PolicyVerdict>;

/** A policy as its author wrote it. */
export interface PolicySource {
  id: string;
  name: string;
  rego: string;
}

/** A place in an author's source; rows and columns count from 1. */
export interface Diagnostic {
  code: string;
  message: string;
  row: number;
  col: number;
  policy_id?: string;
}

export interface BundledModule {
  /** Path inside the bundle, without a leading slash: `policies/<id>/policy.rego`. */
  path: string;
  rego: string;
  rego_version: 0 | 1;
}

/** The outcome of compiling all active policies of a tenant together. */
export interface CompiledPolicySet {
  /** OPA's own WebAssembly, unmetered: the evaluator meters what it loads. */
  wasm: Uint8Array;
  entrypoints: string[];
  builtins: string[];
  /** Namespaced sources, the product's library and the generated aggregator. */
  modules: BundledModule[];
  /** SHA-256 over ids, names, sources and the compiler's version, lower-case hex. */
  digest: string;
}

export type CompileResult =
  | ({ ok: true } & CompiledPolicySet)
  | { ok: false; diagnostics: Diagnostic[] };

export interface CheckResult {
  diagnostics: Diagnostic[];
  /** The source as `opa fmt` writes it; null when it does not parse. */
  formatted: string | null;
  package: string | null;
  rego_version: 0 | 1 | null;
  builtins: string[];
  /** Every use of a built-in (except operators), by its name in the source. */
  builtin_uses: { name: string; row: number; col: number }[];
}

export interface RegoTestResult {
  name: string;
  outcome: 'pass' | 'fail' | 'error' | 'skip';
  message: string | null;
  row: number;
  /** The policy that the test belongs to. */
  policy_id?: string;
}

/** The result of one rule of a policy, whether it decided or not. */
export interface RuleStep {
  policy_id: string;
  /** The author's name: `deny`, or a helper's name. */
  rule: string;
  /** The line in the author's source, from 1. */
  row: number;
  holds: boolean;
  /** The furthest condition that was reached and did not hold. */
  condition?: string | undefined;
  condition_row?: number | undefined;
}

export interface Explanation {
  /** Of OPA's interpreter; the default denial where it gave none. */
  verdict: PolicyVerdict;
  /** Why it was stopped before its end, and the verdict is none; null otherwise. */
  stopped: string | null;
  /** By policy and row, at most 500. */
  steps: RuleStep[];
  /** OPA's interpreter trace, one line an event, bounded. */
  trace: string[];
}

/** The decision of a data plane about an input, or why no data plane could make one. */
export type Judgement =
  | { kind: 'decided'; outcome: PolicyOutcome }
  | { kind: 'not_compiled'; diagnostics: Diagnostic[] }
  | { kind: 'not_loaded'; message: string }
  | { kind: 'stopped'; message: string };

/**
 * The compiler as its users see it; `createRegoCompiler` builds one. It does two things at a time,
 * one for those who save policies and one for those who try them (`judge`, `explain`). `turn` names
 * the requester (a tenant's id), and waiting requesters take turns.
 */
export interface RegoCompiler {
  /**
   * Compiles one policy alone. Never throws for a bad source: the diagnostics describe the errors.
   */
  check(policy: PolicySource, turn?: string): Promise<CheckResult>;
  /** The `digest` that compiling these policies would have, without compiling them. */
  sourcesDigest(policies: PolicySource[]): string;
  /** Compiles policies together under the generated aggregator `governance/decision`. */
  compile(policies: PolicySource[], turn?: string): Promise<CompileResult>;
  /** Runs `_test.rego` sources against the policies with OPA's own test runner. */
  test(policies: PolicySource[], tests: PolicySource[]): Promise<RegoTestResult[]>;
  /** Judges one input as a data plane does: compiled, metered and with its bounds. */
  judge(policies: PolicySource[], input: unknown, data: unknown, turn?: string): Promise<Judgement>;
  /** Explains one decision of these policies by OPA's interpreter, in EXPLAIN_TIMEOUT_MS. */
  explain(
    policies: PolicySource[],
    input: unknown,
    data: unknown,
    turn?: string,
  ): Promise<Explanation>;
  close(): Promise<void>;
}

/** Reasons as one line, as agent and audit event see them. */
export function formatReasons(reasons: readonly PolicyReason[]): string {
  return reasons.map((reason) => `${reason.policy}: ${reason.message}`).join('; ');
}

/** Why an evaluation ended without a verdict. Every one of them is a denial. */
export type PolicyFault =
  | 'undefined'
  | 'malformed_verdict'
  | 'out_of_fuel'
  | 'out_of_memory'
  | 'trap'
  | 'builtin_error'
  | 'not_loaded';

/** What a data plane gives as the reason of its denial. */
export const FAULT_REASONS: Record<PolicyFault, string> = {
  undefined: 'the policies gave no decision',
  malformed_verdict: 'the policies gave no well-formed decision',
  out_of_fuel: 'the policies took too long to decide',
  out_of_memory: 'the policies used too much memory',
  trap: 'the policies could not be evaluated',
  builtin_error: 'a built-in function of the policies failed',
  not_loaded: 'the policies are not loaded',
};

const AUTHORS_FAULTS: ReadonlySet<PolicyFault> = new Set<PolicyFault>([
  'out_of_fuel',
  'out_of_memory',
  'trap',
  'builtin_error',
]);

/**
 * Whether a fault is one that a policy's author can write: an endless loop, values that conflict.
 * Such a policy is activated and denies whatever it fails on, so that everybody notices; the
 * previous rules might go on allowing what the new ones deny. Any other fault means that our
 * compiler did not make the bundle.
 */
export function isAuthorsFault(fault: PolicyFault): boolean {
  return AUTHORS_FAULTS.has(fault);
}

export type PolicyOutcome =
  | { ok: true; verdict: PolicyVerdict }
  | { ok: false; fault: PolicyFault; message: string };

/** A loaded policy. `evaluate` never throws and never exceeds its fuel. */
export interface PolicyEngine {
  evaluate(input: PolicyInput): PolicyOutcome;
}
