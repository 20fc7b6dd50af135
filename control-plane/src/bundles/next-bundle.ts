/**
 * Makes the next bundle of a tenant from its stored state. Policies that the newest bundle has
 * already compiled are taken from it.
 */
import type { CompiledPolicySet, PolicySource, RegoCompiler } from '@governance/policies/contract';
import type { BundleSettings } from '@governance/shared/bundle/bundle-format';
import type { BundleVerificationKey } from '@governance/shared/bundle/bundle-signature';
import {
  type BundleSigner,
  composeBundle,
  contentDigest,
  readCompiledSet,
  type SignedMembers,
} from './bundle-content.ts';
import type { StoredBundle } from './bundle-store.ts';
import type { CheckedPolicies } from './unrecorded-policies.ts';

export interface NextBundleDeps {
  compiler: Pick<RegoCompiler, 'compile' | 'sourcesDigest'>;
  /** The active signing key. */
  signer(): Promise<BundleSigner>;
  /** Earlier and later signing keys that are not revoked. */
  verificationKeys?(): Promise<readonly BundleVerificationKey[]>;
  now(): Date;
}

/** What a bundle is made of, read in one snapshot. */
export interface BundleState {
  tenantId: string;
  revision: number;
  newest: StoredBundle | undefined;
  policies: PolicySource[];
  settings: BundleSettings;
}

/** The state, and which of its policies are not what was recorded. */
export interface CheckedState extends BundleState, CheckedPolicies {}

export interface NextBundle extends StoredBundle {
  bytes: Uint8Array<ArrayBuffer>;
  signed: SignedMembers;
  /** Compiled now, not copied from the previous bundle. */
  isCompiled: boolean;
}

/** Reads the bytes of a stored bundle. */
type FindBytes = (revision: number) => Promise<Uint8Array | undefined>;

/**
 * Whether the newest bundle has this content, and no data plane a newer one.
 *
 * @param inUse a revision that a data plane has
 */
export async function isUpToDate(
  deps: Pick<NextBundleDeps, 'compiler' | 'signer'>,
  { tenantId, revision, newest, policies, settings }: BundleState,
  inUse: number,
): Promise<boolean> {
  const sourcesDigest = deps.compiler.sourcesDigest(policies);
  const signer = await deps.signer();
  const content = { tenantId, sourcesDigest, settings, signer };
  return newest?.contentDigest === contentDigest(content) && revision >= inUse;
}

/**
 * @param inUse a revision that a data plane has; the next one is above it
 * @returns undefined when the newest bundle has the same content, and no data plane a newer one
 */
export async function makeNextBundle(
  deps: NextBundleDeps,
  state: CheckedState,
  inUse: number,
  findBytes: FindBytes,
): Promise<NextBundle | undefined> {
  const signer = await deps.signer();
  const { tenantId, newest, settings, policies, savedUntil } = state;
  const sourcesDigest = deps.compiler.sourcesDigest(policies);
  const digestOfContent = contentDigest({ tenantId, sourcesDigest, settings, signer });
  if (newest?.contentDigest === digestOfContent && state.revision >= inUse) return undefined;
  const bytes =
    newest?.sourcesDigest === sourcesDigest ? await findBytes(newest.revision) : undefined;
  const wanted = { tenantId, sourcesDigest, signer };
  const reused = bytes && (await reuseCompiled(deps, bytes, wanted));
  const compiled = reused ?? (await compile(deps.compiler, tenantId, policies));
  const revision = Math.max(state.revision + 1, inUse + 1, deps.now().getTime());
  const bundle = await composeBundle({
    ...{ tenantId, revision, compiled, policies, savedUntil, settings, signer },
  });
  const { digest, signed } = bundle;
  const row = { revision, digest, contentDigest: digestOfContent, sourcesDigest };
  return { ...row, signed, bytes: new Uint8Array(bundle.bytes), isCompiled: !reused };
}

async function reuseCompiled(
  { verificationKeys }: Pick<NextBundleDeps, 'verificationKeys'>,
  bytes: Uint8Array,
  {
    tenantId,
    sourcesDigest,
    signer,
  }: { tenantId: string; sourcesDigest: string; signer: BundleSigner },
): Promise<CompiledPolicySet | undefined> {
  try {
    const others = (await verificationKeys?.()) ?? [];
    const compiled = await readCompiledSet(bytes, { tenantId, signer, others });
    return compiled.digest === sourcesDigest ? compiled : undefined;
  } catch {
    // Damaged, or signed by a key that was revoked: compile again rather than trust it.
    return undefined;
  }
}

async function compile(
  compiler: NextBundleDeps['compiler'],
  tenantId: string,
  policies: PolicySource[],
): Promise<CompiledPolicySet> {
  const result = await compiler.compile(policies, tenantId);
  if (result.ok) return result;
  const [first] = result.diagnostics;
  throw new Error(
    `the active policies do not compile: ${first?.policy_id ?? ''} ${first?.row}:${first?.col} ${first?.message}`,
  );
}
