import { loadPolicyEngine } from '@governance/policies/evaluator/policy-engine';
import {
  compilePolicyModule,
  type MeteredModule,
} from '@governance/policies/evaluator/policy-sandbox';
import { LRUCache } from 'lru-cache';
import type { LoadPolicyEngine } from './policy-activation.ts';

/** Compiled policies that are kept: settings change more often than rules. */
const KEPT_MODULES = 64;

/** Loads policy engines, compiling a policy.wasm only when it is not the one from before. */
export function createPolicyLoader(now: () => number): LoadPolicyEngine {
  const modules = new LRUCache<string, MeteredModule>({ max: KEPT_MODULES });
  return async (wasm, data, wasmDigest) => {
    const compiled = modules.get(wasmDigest) ?? (await compilePolicyModule(wasm));
    modules.set(wasmDigest, compiled);
    return loadPolicyEngine(wasm, data, { now, compiled });
  };
}
