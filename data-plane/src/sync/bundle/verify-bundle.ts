/**
 * Decides whether a bundle may be activated, before anything of it is used: limits, digest,
 * signature over the exact set of files, the tenant it is for, and that it is no older than what
 * was seen (OPA checks neither version nor tenant; TUF's rules are added). Proven by
 * verify-bundle.test.ts and bundle-sync.test.ts.
 */
import { hash } from 'node:crypto';
import { BundleArchiveError, unpackArchive } from '@governance/shared/bundle/bundle-archive';
import {
  BUNDLE_MEMBERS,
  BundleData,
  BundleManifest,
  type BundleSettings,
  DECISION_ENTRYPOINT,
} from '@governance/shared/bundle/bundle-format';
import {
  BundleSignatureError,
  type BundleVerificationKey,
  verifyBundleSignatures,
} from '@governance/shared/bundle/bundle-signature';
import type { BundleDownload } from '@governance/shared/channel/channels';
import type { z } from 'zod';
import { type BundleFault, BundleRefusedError } from '../link/bundle-error.ts';

export interface BundleTrust {
  tenantId: string;
  /** Public JWKs that may sign the tenant's bundles. */
  keys: readonly BundleVerificationKey[];
  /** The largest revision ever activated of a key that may still sign; 0 before the first. */
  highWater: number;
}

export interface VerifiedBundle extends BundleDownload {
  wasm: Uint8Array;
  /** SHA-256 of policy.wasm, the key of its compiled module. */
  wasmDigest: string;
  /** The data document, with the settings under `settings`. */
  data: z.infer<typeof BundleData>;
  settings: BundleSettings;
  /** The key that signed it. */
  kid: string;
}

/**
 * Verifies a bundle.
 *
 * @throws BundleRefusedError naming the first thing that is wrong
 */
export async function verifyBundle(
  download: BundleDownload,
  trust: BundleTrust,
): Promise<VerifiedBundle> {
  if (hash('sha256', download.bytes, 'hex') !== download.digest) {
    throw new BundleRefusedError('digest_mismatch', 'the bundle is not what was announced');
  }
  const files = await unpackArchive(download.bytes).catch((error) => {
    if (!(error instanceof BundleArchiveError)) throw error;
    throw new BundleRefusedError(error.code, error.message, { cause: error });
  });
  const kid = verifySignature(files, trust);

  const manifest = readMember(files, BUNDLE_MEMBERS.manifest, BundleManifest, 'manifest_malformed');
  const data = readMember(files, BUNDLE_MEMBERS.data, BundleData, 'data_malformed');
  const wasm = files.get(BUNDLE_MEMBERS.wasm);
  if (!wasm) throw new BundleRefusedError('file_missing', 'the bundle has no policy.wasm');
  if (!manifest.metadata.entrypoints.includes(DECISION_ENTRYPOINT)) {
    throw new BundleRefusedError('manifest_malformed', 'the bundle has no decision entrypoint');
  }
  if (
    manifest.metadata.tenant_id !== trust.tenantId ||
    data.settings.tenant_id !== trust.tenantId
  ) {
    throw new BundleRefusedError('wrong_tenant', 'the bundle is for another tenant');
  }
  const revision = Number(manifest.revision);
  if (!Number.isSafeInteger(revision) || revision !== download.revision) {
    throw new BundleRefusedError('revision_mismatch', 'the bundle is not the revision announced');
  }
  if (revision < trust.highWater) {
    throw new BundleRefusedError('rollback', `revision ${revision} follows ${trust.highWater}`);
  }
  const wasmDigest = hash('sha256', wasm, 'hex');
  return { ...download, wasm, wasmDigest, data, settings: data.settings, kid };
}

function verifySignature(files: Map<string, Uint8Array>, trust: BundleTrust): string {
  const signatures = files.get(BUNDLE_MEMBERS.signatures);
  const signed = new Map(files);
  signed.delete(BUNDLE_MEMBERS.signatures);
  try {
    return verifyBundleSignatures(signatures, signed, { keys: trust.keys, scope: trust.tenantId });
  } catch (cause) {
    if (!(cause instanceof BundleSignatureError)) throw cause;
    throw new BundleRefusedError(cause.code, cause.message, { cause });
  }
}

function readMember<T>(
  files: Map<string, Uint8Array>,
  name: string,
  schema: z.ZodType<T>,
  fault: BundleFault,
): T {
  const bytes = files.get(name);
  if (!bytes) throw new BundleRefusedError('file_missing', `the bundle has no ${name}`);
  try {
    return schema.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
  } catch (cause) {
    throw new BundleRefusedError(fault, `${name} is not what it should be`, { cause });
  }
}
