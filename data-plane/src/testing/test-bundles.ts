/** Bundles for tests, with every part open to be made wrong. */
import { generateKeyPairSync, hash, type KeyObject } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import {
  type BundleSignatureAlgorithm,
  type BundleVerificationKey,
  signBundle,
} from '@governance/shared/bundle/bundle-signature';
import type { BundleDownload } from '@governance/shared/channel/channels';
import { Header } from 'tar';

export interface TestSigner {
  kid: string;
  key: KeyObject;
  alg: BundleSignatureAlgorithm;
  public: BundleVerificationKey;
}

export function aBundleSigner(kid = 'bundle-1'): TestSigner {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const jwk = publicKey.export({ format: 'jwk' });
  return { kid, alg: 'ES256', key: privateKey, public: { ...jwk, kty: 'EC', kid, alg: 'ES256' } };
}

export interface TestBundle {
  tenantId: string;
  revision: number;
  signer: TestSigner;
  settings?: Record<string, unknown>;
  wasm?: Uint8Array;
  scope?: string;
  manifest?: Record<string, unknown>;
  /** Changes the files before they are signed. */
  before?: (files: Map<string, Uint8Array>) => void;
  /** Changes the files after they were signed. */
  after?: (files: Map<string, Uint8Array>) => void;
}

export interface TarMember {
  path: string;
  bytes: Uint8Array;
  type?: 'File' | 'SymbolicLink' | 'Link' | 'Directory';
}

/** The manifest, data and a policy.wasm that only a fake engine loads, signed and packed. */
export function aBundle(about: TestBundle): BundleDownload {
  const { tenantId, revision, signer } = about;
  const manifest = {
    revision: String(revision),
    roots: ['settings', 'governance'],
    rego_version: 1,
    metadata: { tenant_id: tenantId, entrypoints: ['governance/decision'], sources_digest: 'x' },
    ...about.manifest,
  };
  const settings = { tenant_id: tenantId, mcp_servers: {}, ...about.settings };
  const files = new Map<string, Uint8Array>([
    ['.manifest', Buffer.from(JSON.stringify(manifest))],
    ['data.json', Buffer.from(JSON.stringify({ settings }))],
    ['policy.wasm', about.wasm ?? Buffer.from('\0asm-test')],
    ['policies/p/policy.rego', Buffer.from('package policies.p\n')],
  ]);
  about.before?.(files);
  const { kid, key, alg } = signer;
  const scope = about.scope ?? tenantId;
  files.set('.signatures.json', signBundle(files, { kid, key, alg, scope }));
  about.after?.(files);
  return aDownload(revision, packTar([...files].map(([path, bytes]) => ({ path, bytes }))));
}

export function aDownload(revision: number, bytes: Uint8Array): BundleDownload {
  return { revision, digest: hash('sha256', bytes, 'hex'), bytes };
}

/** A tar.gz of any members, good or bad. */
export function packTar(members: TarMember[], end = Buffer.alloc(1024)): Buffer {
  const blocks = members.flatMap(({ path, bytes, type = 'File' }) => {
    const block = Buffer.alloc(512);
    const size = type === 'File' ? bytes.length : 0;
    const linkpath = type === 'File' || type === 'Directory' ? '' : '/etc/passwd';
    new Header({ path, size, type, linkpath, mode: 0o644, mtime: new Date(0) }).encode(block);
    const padding = Buffer.alloc((512 - (size % 512)) % 512);
    return [block, bytes.subarray(0, size), padding];
  });
  return gzipSync(Buffer.concat([...blocks, end]));
}
