import { loadPolicyEngine } from '@governance/policies/evaluator/policy-engine';
import {
  compilePolicyModule,
  type MeteredModule,
} from '@governance/policies/evaluator/policy-sandbox';
import { LRUCache } from 'lru-cache';
import type { LoadPolicyEngine } from './policy-activation.ts';

/** Compiled policies that are cached: settings change more often than rules. */
const KEPT_MODULES = 64;

/** Loads policy engines; compiles a policy.wasm only when it has changed. */
export function createPolicyLoader(now: () => number): LoadPolicyEngine {
  const modules = new LRUCache<string, MeteredModule>({ max: KEPT_MODULES });
  return async (wasm, data, wasmDigest) => {
    const compiled = modules.get(wasmDigest) ?? (await compilePolicyModule(wasm));
    modules.set(wasmDigest, compiled);
    return loadPolicyEngine(wasm, data, { now, compiled });
  };
}
