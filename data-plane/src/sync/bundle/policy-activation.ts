import { isAuthorsFault, type PolicyEngine, type PolicyInput } from '@governance/policies/contract';
import { BundleRefusedError } from '../link/bundle-error.ts';
import type { VerifiedBundle } from './verify-bundle.ts';

/**
 * Loads a bundle's policy into an engine.
 *
 * @param wasmDigest by which an implementation may reuse what it compiled before
 * @throws when the policy cannot be loaded
 */
export type LoadPolicyEngine = (
  wasm: Uint8Array,
  data: unknown,
  wasmDigest: string,
) => Promise<PolicyEngine>;

/** An ordinary call, which every policy must be able to answer. */
const SMOKE_INPUT: PolicyInput = {
  agent: {
    id: '00000000-0000-7000-8000-000000000000',
    name: 'smoke',
    agent_type: 'smoke',
    owner: 'smoke',
    roles: [],
    permissions: [],
    risk_tier: 'low',
    risk_score: 0,
  },
  request: {
    tool_name: 'smoke',
    action: 'read',
    resource: 'smoke',
    parameters: {},
    mcp_server: 'smoke',
    method: 'tools/call',
  },
  requester: { id: null, verified: false },
  workflow: null,
  delegation: null,
  dlp: { findings_count: 0, max_severity: null, patterns: [] },
  context: {
    time: '2026-01-01T00:00:00.000Z',
    data_plane: '00000000-0000-7000-8000-000000000000',
    region: null,
    model: null,
    agent_role: null,
  },
};

/**
 * Loads a verified bundle's policy and evaluates a smoke input, so that a policy that cannot
 * answer at all never replaces one that can. A policy that only fails at what its author wrote is
 * accepted: it then denies its calls, which is seen and reported, and later changes still arrive.
 *
 * @throws BundleRefusedError
 */
export async function activatePolicy(
  bundle: VerifiedBundle,
  load: LoadPolicyEngine,
): Promise<PolicyEngine> {
  let engine: PolicyEngine;
  try {
    engine = await load(bundle.wasm, bundle.data, bundle.wasmDigest);
  } catch (cause) {
    throw new BundleRefusedError('policy_not_loadable', 'the policy cannot be loaded', { cause });
  }
  const outcome = engine.evaluate(SMOKE_INPUT);
  if (!outcome.ok && !isAuthorsFault(outcome.fault)) {
    throw new BundleRefusedError('smoke_failed', `${outcome.fault}: ${outcome.message}`);
  }
  return engine;
}
