/**
 * OPA's compiler, test runner and interpreter for the rest of the product: the WebAssembly of
 * policies/compiler in two worker threads. One is for those who save policies; the other is for
 * those who try them, so that nobody who saves one waits for a trial (trial-lane.test.ts). A source that is wrong, hostile or too costly becomes
 * diagnostics (rego-compiler.test.ts, "hostile"); only a full queue or a closed compiler throws.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { assetPath } from '@governance/shared/process/assets';
import { BUILTIN_RENAMES } from '../builtin-names.ts';
import type {
  CheckResult,
  CompiledPolicySet,
  CompileResult,
  Diagnostic,
  Explanation,
  Judgement,
  PolicySource,
  RegoCompiler,
  RegoTestResult,
} from '../contract.ts';
import { createCompileCache } from './compile-cache.ts';
import {
  type AskOptions,
  createCompilerProcess,
  type JudgeOutcome,
  type StoppedOutcome,
} from './compiler-process.ts';
import type { CompilerLimits, CompilerRequest, RawModule } from './compiler-wire.ts';
import { readPolicyLibrary } from './policy-library.ts';

export interface RegoCompilerOptions {
  /** The worker thread ends after this long without work. Default 30 s. */
  idleMs?: number;
  /** Anything else that takes longer is stopped. Default 10 s. */
  timeoutMs?: number;
  /** An explanation that takes longer is stopped. Default EXPLAIN_TIMEOUT_MS. */
  explainTimeoutMs?: number;
  /** Bound of the compiler's memory in pages of 64 KiB, for trials half. Default 8,192 (512 MiB). */
  memoryPages?: number;
  /** Requests that may wait at once, of trials a quarter of that. Default 256. */
  maxQueue?: number;
  /** Requests of one tenant, of trials a quarter of that. Default 32. */
  maxQueueOfOne?: number;
  limits?: CompilerLimits;
}

/** Modules compiled as they are, without namespaces, library or aggregator. */
export type RawCompileResult =
  | { ok: true; wasm: Uint8Array; entrypoints: string[]; builtins: string[] }
  | { ok: false; diagnostics: Diagnostic[] };

export interface FullRegoCompiler extends RegoCompiler {
  /**
   * Compiles modules as given for entrypoints like `test/p` (`data.test.p`), with our own built-ins
   * renamed. Data is passed at evaluation and is not part of the WebAssembly.
   */
  compileRaw(modules: RawModule[], entrypoints: string[]): Promise<RawCompileResult>;
  /** Whether the worker thread is up. */
  isRunning(): boolean;
}

/** The longest explanation; OPA's interpreter has no fuel of its own. */
export const EXPLAIN_TIMEOUT_MS = 2_000;

const CACHE_ENTRIES = 64;
const CACHE_BYTES = 64 * 1024 * 1024;
/** Sets that were compiled for trials, apart from the others so that no trial displaces one. */
const TRIED_ENTRIES = 16;
const TRIED_BYTES = 32 * 1024 * 1024;

/** A set that is being compiled, or was. */
interface Compiling {
  result: Promise<CompileResult>;
  wasm?: Uint8Array;
}

export function createRegoCompiler(options: RegoCompilerOptions = {}): FullRegoCompiler {
  const { idleMs = 30_000, timeoutMs = 10_000, memoryPages = 8_192 } = options;
  const { maxQueue = 256, maxQueueOfOne = Math.min(32, maxQueue) } = options;
  const { explainTimeoutMs = EXPLAIN_TIMEOUT_MS } = options;
  const common = { idleMs, timeoutMs };
  const compilerProcess = createCompilerProcess({
    ...common,
    ...{ memoryPages, maxQueue, maxQueueOfOne },
  });
  const trials = createCompilerProcess({
    ...common,
    memoryPages: Math.ceil(memoryPages / 2),
    // A waiting trial holds its policies and its input.
    maxQueue: Math.ceil(maxQueue / 4),
    maxQueueOfOne: Math.ceil(maxQueueOfOne / 4),
  });
  const cache = createCompileCache<Compiling>(CACHE_ENTRIES, CACHE_BYTES);
  const tried = createCompileCache<Uint8Array>(TRIED_ENTRIES, TRIED_BYTES);
  const library = readPolicyLibrary();
  const version = compilerVersion();
  const complete = <R extends CompilerRequest>(request: R): R => ({
    library,
    renames: BUILTIN_RENAMES,
    ...(options.limits && { limits: options.limits }),
    ...request,
  });
  const ask = (request: CompilerRequest, turn?: string) =>
    compilerProcess.ask(complete(request), { turn });

  async function compileFresh(
    policies: PolicySource[],
    digest: string,
    turn: string | undefined,
  ): Promise<CompileResult> {
    const outcome = await ask({ op: 'compile', policies }, turn);
    if (outcome.kind === 'stopped') return { ok: false, diagnostics: [stoppedDiagnostic(outcome)] };
    const { wasm, diagnostics, entrypoints, builtins, modules } = outcome.answer;
    if (!wasm) return { ok: false, diagnostics };
    return { ok: true, wasm, entrypoints, builtins, modules, digest };
  }

  return {
    async check(policy, turn): Promise<CheckResult> {
      const outcome = await ask({ op: 'check', policies: [policy] }, turn);
      if (outcome.kind === 'stopped') {
        return {
          diagnostics: [{ ...stoppedDiagnostic(outcome), policy_id: policy.id }],
          formatted: null,
          package: null,
          rego_version: null,
          builtins: [],
          builtin_uses: [],
        };
      }
      const { diagnostics, formatted, rego_version, builtins, builtin_uses } = outcome.answer;
      const name = outcome.answer.package;
      return { diagnostics, formatted, package: name, rego_version, builtins, builtin_uses };
    },

    sourcesDigest: (policies) => digestOf(version, library, sortById(policies)),

    compile(policies, turn) {
      const sorted = sortById(policies);
      const digest = digestOf(version, library, sorted);
      const known = cache.find(digest);
      if (known) return known.result;
      const result = compileFresh(sorted, digest, turn);
      // Kept while it runs, so that a set is compiled once; stopped ones are retried.
      cache.put(digest, { result }, 0);
      result.then(
        (set) =>
          set.ok ? cache.put(digest, { result, wasm: set.wasm }, sizeOf(set)) : cache.drop(digest),
        () => cache.drop(digest),
      );
      return result;
    },

    async test(policies, tests): Promise<RegoTestResult[]> {
      const outcome = await ask({ op: 'test', policies, tests });
      if (outcome.kind === 'stopped') {
        return [failedTest(stoppedDiagnostic(outcome))];
      }
      return [...outcome.answer.diagnostics.map(failedTest), ...outcome.answer.tests];
    },

    async judge(policies, input, data, turn): Promise<Judgement> {
      const sorted = sortById(policies);
      const digest = digestOf(version, library, sorted);
      const request = {
        ...{ data, input: JSON.stringify(input) },
        compile: complete({ op: 'compile' as const, policies: sorted }),
        find: () => cache.find(digest)?.wasm ?? tried.find(digest),
        keep: (wasm: Uint8Array) => tried.put(digest, wasm, wasm.length),
      };
      return toJudgement(await trials.judge(request, { turn }));
    },

    async explain(policies, input, data, turn): Promise<Explanation> {
      const how: AskOptions = { turn, timeoutMs: explainTimeoutMs };
      const outcome = await trials.ask(complete({ op: 'explain', policies, input, data }), how);
      if (outcome.kind === 'stopped') {
        const stopped = whyStopped(outcome);
        return { ...unexplained(`the explanation was stopped: ${stopped}`), stopped };
      }
      const { verdict, steps, trace, diagnostics } = outcome.answer;
      if (verdict) return { verdict, steps, trace, stopped: null };
      return unexplained(diagnostics[0]?.message ?? 'the evaluation gave no decision', trace);
    },

    async compileRaw(modules, entrypoints) {
      const outcome = await ask({ op: 'compile_raw', modules, entrypoints });
      if (outcome.kind === 'stopped') {
        return { ok: false, diagnostics: [stoppedDiagnostic(outcome)] };
      }
      const { wasm, diagnostics, builtins } = outcome.answer;
      if (!wasm) return { ok: false, diagnostics };
      return { ok: true, wasm, entrypoints: outcome.answer.entrypoints, builtins };
    },

    isRunning: compilerProcess.isRunning,
    close: async () => {
      await Promise.all([compilerProcess.close(), trials.close()]);
    },
  };
}

function sortById(policies: PolicySource[]): PolicySource[] {
  return [...policies].sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
}

/** The SHA-256 of the compiler's WebAssembly: another compiler may make another policy.wasm. */
function compilerVersion(): string {
  const sums = readFileSync(assetPath('policies/compiler/artifact/SHA256SUMS'), 'utf8');
  const sum = /^([0-9a-f]{64}) {2}rego-compiler\.wasm$/m.exec(sums)?.[1];
  if (!sum) throw new Error('policies/compiler/artifact/SHA256SUMS names no rego-compiler.wasm');
  return sum;
}

function digestOf(version: string, library: RawModule[], policies: PolicySource[]): string {
  const content = [
    version,
    BUILTIN_RENAMES,
    library.map(({ path, rego }) => [path, rego]),
    policies.map(({ id, name, rego }) => [id, name, rego]),
  ];
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}

function sizeOf(set: CompiledPolicySet): number {
  return set.wasm.length + set.modules.reduce((sum, { rego }) => sum + rego.length, 0);
}

const STOPPED: Record<StoppedOutcome['cause'], { code: string; message: string }> = {
  timeout: { code: 'governance_compile_timeout', message: 'compiling was stopped' },
  stack: { code: 'governance_nesting_too_deep', message: 'the source is nested too deeply' },
  memory: { code: 'governance_out_of_memory', message: 'compiling needs too much memory' },
  other: { code: 'governance_compile_failed', message: 'the compiler failed' },
};

function stoppedDiagnostic({ cause, message }: StoppedOutcome): Diagnostic {
  const known = STOPPED[cause];
  return { code: known.code, message: `${known.message}: ${message}`, row: 1, col: 1 };
}

/** In the words of a trial: what was stopped is not a source that somebody saves. */
function whyStopped({ cause, message }: StoppedOutcome): string {
  switch (cause) {
    case 'timeout':
      return message;
    case 'stack':
      return 'it is nested too deeply';
    case 'memory':
      return 'it needs too much memory';
    case 'other':
      return `OPA failed (${message})`;
  }
}

function toJudgement(outcome: JudgeOutcome): Judgement {
  switch (outcome.kind) {
    case 'judged':
      return { kind: 'decided', outcome: outcome.outcome };
    case 'answer':
      return { kind: 'not_compiled', diagnostics: outcome.answer.diagnostics };
    case 'stopped':
      return { kind: 'stopped', message: whyStopped(outcome) };
    case 'not_loaded':
      return outcome;
  }
}

function failedTest({ code, message, row, policy_id }: Diagnostic): RegoTestResult {
  return { name: code, outcome: 'error', message, row, policy_id };
}

/** A decision that cannot be explained is reported as the denial that it would be. */
function unexplained(message: string, trace: string[] = []): Explanation {
  const reason = { policy_id: '', policy: 'default', rule: 'deny' as const, message };
  return { verdict: { decision: 'deny', reasons: [reason] }, steps: [], trace, stopped: null };
}
