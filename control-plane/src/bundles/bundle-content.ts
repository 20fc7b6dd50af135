/**
 * What is in a bundle: OPA's layout, signed, with everything that a data plane (or a stock OPA)
 * needs to decide for one tenant. `.manifest` has no `wasm` key, because released OPA binaries
 * have no WebAssembly engine and refuse one; the entrypoints stand in its metadata.
 */
import { createPublicKey, hash, type KeyObject } from 'node:crypto';
import type { BundledModule, CompiledPolicySet, PolicySource } from '@governance/policies/contract';
import { BundleArchiveError, unpackArchive } from '@governance/shared/bundle/bundle-archive';
import {
  BUNDLE_MEMBERS,
  type BundleManifest,
  BundleManifest as BundleManifestSchema,
  type BundleSettings,
} from '@governance/shared/bundle/bundle-format';
import {
  type BundleSignatureAlgorithm,
  type BundleVerificationKey,
  signBundle,
  verifyBundleSignatures,
} from '@governance/shared/bundle/bundle-signature';
import { canonicalize } from '@governance/shared/json/canonical-json';
import { toCarried } from './carried-policies.ts';
import { packArchive } from './pack-archive.ts';

/** The bundle's roots in OPA's sense; together they cover data.json and every module. */
const ROOTS = ['governance', 'policies', 'settings'];

/** Raised when the layout changes, so that stored bundles of the old layout are built again. */
const LAYOUT = 2;

/**
 * Limit of a tenant's compiled policies together. Far below what data planes accept, so that
 * settings always fit beside them, however badly the sources compress.
 */
export const MAX_COMPILED_BYTES = 24 * 1024 * 1024;

/** What compiled policies add to a bundle, before compression. */
export function compiledBytes({ wasm, modules }: Pick<CompiledPolicySet, 'wasm' | 'modules'>) {
  return modules.reduce((sum, { rego }) => sum + Buffer.byteLength(rego), wasm.length);
}

export interface BundleSigner {
  kid: string;
  key: KeyObject;
  alg: BundleSignatureAlgorithm;
}

export interface BundleRequest {
  tenantId: string;
  revision: number;
  compiled: CompiledPolicySet;
  /** What was compiled: the manifest says so for the next build. */
  policies?: readonly PolicySource[];
  /** The newest record of what it has of them. */
  savedUntil?: string | undefined;
  settings: BundleSettings;
  signer: BundleSigner;
}

/**
 * Identifies a bundle's content apart from its revision and the signature's randomness: equal
 * digests need no second bundle.
 *
 * @returns SHA-256, lower-case hexadecimal
 */
export function contentDigest(
  request: Omit<BundleRequest, 'revision' | 'compiled' | 'policies' | 'savedUntil'> & {
    sourcesDigest: string;
  },
): string {
  const { tenantId, sourcesDigest, settings, signer } = request;
  const content = { layout: LAYOUT, tenantId, sourcesDigest, settings, kid: signer.kid };
  return hash('sha256', canonicalize(content), 'hex');
}

/**
 * Writes and signs a tenant's bundle.
 *
 * @returns the tar.gz, its SHA-256 in lower-case hexadecimal, and the two members that show who
 *   signed which revision
 * @throws BundleArchiveError when data planes would refuse it for its size
 */
export async function composeBundle(
  request: BundleRequest,
): Promise<{ bytes: Buffer; digest: string; signed: SignedMembers }> {
  const { tenantId, compiled, settings, signer } = request;
  const files = new Map<string, Uint8Array>([
    [BUNDLE_MEMBERS.manifest, jsonBytes(manifestOf(request))],
    [BUNDLE_MEMBERS.data, jsonBytes({ settings })],
    [BUNDLE_MEMBERS.wasm, compiled.wasm],
    ...compiled.modules.map((module) => [module.path, Buffer.from(module.rego)] as const),
  ]);
  files.set(BUNDLE_MEMBERS.signatures, signBundle(files, { ...signer, scope: tenantId }));
  const bytes = await packArchive(files);
  return { bytes, digest: hash('sha256', bytes, 'hex'), signed: readSignedMembers(files) };
}

/** The texts of a bundle's .manifest and .signatures.json. */
export interface SignedMembers {
  manifest: string;
  signatures: string;
}

/** @param files of a bundle, by path */
export function readSignedMembers(files: ReadonlyMap<string, Uint8Array>): SignedMembers {
  const text = (path: string) => Buffer.from(files.get(path) ?? []).toString('utf8');
  return { manifest: text(BUNDLE_MEMBERS.manifest), signatures: text(BUNDLE_MEMBERS.signatures) };
}

function manifestOf(request: BundleRequest): BundleManifest {
  const { tenantId, revision, compiled, policies, savedUntil } = request;
  const older = compiled.modules.filter((module) => module.rego_version === 0);
  return {
    revision: String(revision),
    roots: ROOTS,
    rego_version: 1,
    ...(older.length > 0 && {
      // OPA matches these against the names in the archive.
      file_rego_versions: Object.fromEntries(older.map((module) => [module.path, 0])),
    }),
    metadata: {
      tenant_id: tenantId,
      entrypoints: compiled.entrypoints,
      sources_digest: compiled.digest,
      builtins: compiled.builtins,
      ...(policies && { policies: toCarried(policies) }),
      ...(savedUntil && { policies_saved_until: savedUntil }),
    },
  };
}

function jsonBytes(value: unknown): Buffer {
  return Buffer.from(canonicalize(value));
}

/**
 * Reads the compiled policies back from a stored bundle, so that a restart or a change of settings
 * needs no compiler. Verifies the signature with our own key: whoever can write to the database
 * must not choose the WebAssembly that we sign next.
 *
 * @throws BundleArchiveError or BundleSignatureError when none of those keys signed it
 */
export async function readCompiledSet(
  bytes: Uint8Array,
  trust: {
    tenantId: string;
    signer: BundleSigner;
    /** Our keys before and after it. */
    others?: readonly BundleVerificationKey[];
  },
): Promise<CompiledPolicySet> {
  const files = await unpackArchive(bytes);
  const { signer, tenantId, others = [] } = trust;
  const signatures = files.get(BUNDLE_MEMBERS.signatures);
  files.delete(BUNDLE_MEMBERS.signatures);
  const jwk = createPublicKey(signer.key).export({ format: 'jwk' });
  const key = { ...jwk, kty: jwk.kty ?? '', kid: signer.kid, alg: signer.alg };
  verifyBundleSignatures(signatures, files, { keys: [key, ...others], scope: tenantId });

  const wasm = files.get(BUNDLE_MEMBERS.wasm);
  const manifestBytes = files.get(BUNDLE_MEMBERS.manifest);
  if (!wasm || !manifestBytes) {
    throw new BundleArchiveError('archive_malformed', 'it has no manifest or no policy.wasm');
  }
  const { metadata, file_rego_versions: versions } = BundleManifestSchema.parse(
    JSON.parse(manifestBytes.toString('utf8')),
  );
  const modules: BundledModule[] = [...files]
    .filter(([path]) => path.endsWith('.rego'))
    .map(([path, rego]) => ({
      path,
      rego: rego.toString('utf8'),
      rego_version: versions?.[path] ?? 1,
    }));
  const builtins = Array.isArray(metadata.builtins) ? metadata.builtins.map(String) : [];
  return {
    wasm: new Uint8Array(wasm),
    entrypoints: metadata.entrypoints,
    builtins,
    modules,
    digest: metadata.sources_digest,
  };
}
