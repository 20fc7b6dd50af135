import { gzipSync } from 'node:zlib';
import { BUNDLE_LIMITS } from '@governance/shared/bundle/bundle-format';
import type { BundleDownload } from '@governance/shared/channel/channels';
import { uuidv7 } from '@governance/shared/ids';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  aBundle,
  aBundleSigner,
  aDownload,
  packTar,
  type TestBundle,
} from '../../testing/test-bundles.ts';
import { BundleRefusedError } from '../link/bundle-error.ts';
import { verifyBundle } from './verify-bundle.ts';

const tenantId = uuidv7();
const signer = aBundleSigner();
const trust = { tenantId, keys: [signer.public], highWater: 100 };
const bundle = (over: Partial<TestBundle> = {}) =>
  aBundle({ tenantId, revision: 100, signer, ...over });

async function faultOf(download: BundleDownload, with_ = trust): Promise<string> {
  try {
    await verifyBundle(download, with_);
  } catch (error) {
    if (error instanceof BundleRefusedError) return error.code;
    throw error;
  }
  return 'none';
}

describe('verifyBundle', () => {
  it('gives the parts of a good bundle', async () => {
    const download = bundle({ settings: { limit: 5 }, wasm: Buffer.from('\0asm-other') });
    expect(await verifyBundle(download, trust)).toMatchObject({
      revision: 100,
      digest: download.digest,
      settings: { tenant_id: tenantId, limit: 5 },
      data: { settings: { limit: 5 } },
      wasm: Buffer.from('\0asm-other'),
      wasmDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  const other = uuidv7();
  const stranger = aBundleSigner();
  const cases: [string, BundleDownload, string][] = [
    ['unsigned', bundle({ after: (f) => f.delete('.signatures.json') }), 'signature_missing'],
    [
      'with a malformed signature file',
      bundle({ after: (f) => f.set('.signatures.json', Buffer.from('{}')) }),
      'signature_malformed',
    ],
    ['signed by a stranger under a known id', bundle({ signer: stranger }), 'signature_invalid'],
    ['signed under an unknown id', bundle({ signer: aBundleSigner('other') }), 'key_unknown'],
    ['signed for another tenant', bundle({ scope: other }), 'scope_mismatch'],
    [
      'of another tenant by its manifest',
      bundle({
        manifest: {
          metadata: { tenant_id: other, entrypoints: ['governance/decision'], sources_digest: '' },
        },
      }),
      'wrong_tenant',
    ],
    [
      'of another tenant by its settings',
      bundle({ settings: { tenant_id: other } }),
      'wrong_tenant',
    ],
    ['with a file added', bundle({ after: (f) => f.set('x.rego', Buffer.of(1)) }), 'file_unsigned'],
    [
      'with a file lost',
      bundle({ after: (f) => f.delete('policies/p/policy.rego') }),
      'file_missing',
    ],
    [
      'with a policy exchanged',
      bundle({ after: (f) => f.set('policy.wasm', Buffer.from('\0asm-evil')) }),
      'digest_mismatch',
    ],
    [
      'with settings edited',
      bundle({ after: (f) => f.set('data.json', Buffer.from('{"settings":{}}')) }),
      'digest_mismatch',
    ],
    ['without a policy', bundle({ before: (f) => f.delete('policy.wasm') }), 'file_missing'],
    ['without a manifest', bundle({ before: (f) => f.delete('.manifest') }), 'file_missing'],
    ['with settings that are none', bundle({ settings: { mcp_servers: 1 } }), 'data_malformed'],
    [
      'with a revision that is no number',
      bundle({ manifest: { revision: '1e3' } }),
      'manifest_malformed',
    ],
    [
      'without the entrypoint',
      bundle({
        manifest: { metadata: { tenant_id: tenantId, entrypoints: [], sources_digest: '' } },
      }),
      'manifest_malformed',
    ],
    ['rolled back', bundle({ revision: 99 }), 'rollback'],
    ['that is not the revision announced', { ...bundle(), revision: 101 }, 'revision_mismatch'],
    ['that is not what was announced', { ...bundle(), digest: '0'.repeat(64) }, 'digest_mismatch'],
    ['that is no gzip', aDownload(100, Buffer.from('hello')), 'archive_malformed'],
    ['that is no tar', aDownload(100, gzipSync('hello')), 'archive_malformed'],
    ['that is empty', aDownload(100, Buffer.alloc(0)), 'archive_malformed'],
    [
      'larger than the limit',
      aDownload(100, Buffer.alloc(BUNDLE_LIMITS.compressedBytes + 1)),
      'too_large',
    ],
    [
      'that unpacks to more than the limit',
      aDownload(100, gzipSync(Buffer.alloc(BUNDLE_LIMITS.unpackedBytes + 1))),
      'too_large',
    ],
  ];

  it.each(cases)('refuses a bundle %s', async (_what, download, fault) => {
    expect(await faultOf(download)).toBe(fault);
  });

  it('refuses a bundle with any byte of its unpacked archive changed', async () => {
    const { gunzipSync } = await import('node:zlib');
    const tar = gunzipSync(bundle().bytes);
    await fc.assert(
      fc.asyncProperty(
        fc.nat(tar.length - 1),
        fc.integer({ min: 1, max: 255 }),
        async (at, flip) => {
          const edited = Buffer.from(tar);
          edited[at] = (edited[at] ?? 0) ^ flip;
          const fault = await faultOf(aDownload(100, gzipSync(edited, { level: 1 })));
          // Bytes that carry nothing may change: padding, and the spare bits of a base64url text.
          if (fault === 'none') {
            const before = await verifyBundle(bundle(), trust);
            const after = await verifyBundle(aDownload(100, gzipSync(edited)), trust);
            const content = ({ data, wasm, revision }: typeof after) => ({ data, wasm, revision });
            expect(content(after)).toEqual(content(before));
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('the archive', () => {
  const file = (path: string) => ({ path, bytes: Buffer.from('x') });

  it.each([
    ['a path above its root', [file('../x')]],
    ['an absolute path', [file('/x')]],
    ['a path with an empty segment', [file('a//b')]],
    ['a path with a dot segment', [file('./x')]],
    ['a path with a backslash', [file('a\\b')]],
    ['a path twice', [file('a'), file('a')]],
    ['a symbolic link', [{ ...file('a'), type: 'SymbolicLink' as const }]],
    ['a hard link', [{ ...file('a'), type: 'Link' as const }]],
    ['a folder', [{ ...file('a'), type: 'Directory' as const }]],
  ])('is refused with %s', async (_what, members) => {
    expect(await faultOf(aDownload(100, packTar(members)))).toBe('archive_malformed');
  });

  it('is refused without its end, or with something behind it', async () => {
    expect(await faultOf(aDownload(100, packTar([file('a')], Buffer.alloc(0))))).toBe(
      'archive_malformed',
    );
    const end = Buffer.concat([Buffer.alloc(1024), Buffer.alloc(512, 1)]);
    expect(await faultOf(aDownload(100, packTar([file('a')], end)))).toBe('archive_malformed');
  });

  it('is refused with more members than the limit', async () => {
    const members = Array.from({ length: BUNDLE_LIMITS.members + 1 }, (_, i) => file(`f${i}`));
    expect(await faultOf(aDownload(100, packTar(members)))).toBe('too_large');
  });
});
