import { generateKeyPairSync, hash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { createRegoCompiler } from '@governance/policies/compiler/rego-compiler';
import type { CompiledPolicySet, PolicySource } from '@governance/policies/contract';
import { unpackArchive } from '@governance/shared/bundle/bundle-archive';
import { BundleManifest, type BundleSettings } from '@governance/shared/bundle/bundle-format';
import {
  type BundleVerificationKey,
  verifyBundleSignatures,
} from '@governance/shared/bundle/bundle-signature';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findNativeOpa, NO_NATIVE_OPA, startNativeOpa } from '../../../tests/support/native-opa.ts';
import { composeBundle, contentDigest, readCompiledSet } from './bundle-content.ts';
import { packArchive } from './pack-archive.ts';

const TENANT = '01890000-0000-7000-8000-000000000001';
const POLICY = '01890000-0000-7000-8000-00000000000a';
const OLDER = '01890000-0000-7000-8000-00000000000b';

const POLICIES: PolicySource[] = [
  {
    id: POLICY,
    name: 'Readers',
    rego: `package readers

allow if input.request.action == "read"

deny contains sprintf("%s may not touch %s", [input.agent.name, input.request.resource]) if {
	contains(input.request.resource, "secret")
}
`,
  },
  {
    id: OLDER,
    name: 'Known servers',
    rego: `package known

escalate[reason] {
	not data.settings.mcp_servers[input.request.mcp_server]
	reason := "an unknown server"
}
`,
  },
];

const SETTINGS: BundleSettings = {
  tenant_id: TENANT,
  mcp_servers: {
    files: { server_id: 'files', transport: 'stdio', url: null, local_name: 'files' },
  },
};

const pair = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const signer = { kid: 'key-1', key: pair.privateKey, alg: 'ES256' as const };
const publicKey = {
  ...pair.publicKey.export({ format: 'jwk' }),
  kid: signer.kid,
  alg: signer.alg,
} as BundleVerificationKey;
const trust = { keys: [publicKey], scope: TENANT };

const compiler = createRegoCompiler();
afterAll(() => compiler.close());

let compiled: CompiledPolicySet;
beforeAll(async () => {
  const result = await compiler.compile(POLICIES);
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  compiled = result;
});

const aBundle = (revision = 7) =>
  composeBundle({ tenantId: TENANT, revision, compiled, settings: SETTINGS, signer });

async function verify(bytes: Uint8Array): Promise<Map<string, Buffer>> {
  const files = await unpackArchive(bytes);
  const signatures = files.get('.signatures.json');
  files.delete('.signatures.json');
  verifyBundleSignatures(signatures, files, trust);
  return files;
}

describe('an archive', () => {
  it('has bytes that depend on nothing but its members', async () => {
    const files = [
      ['b', Buffer.from('2')],
      ['a/c', Buffer.alloc(1024, 'x')],
    ] as const;
    const one = await packArchive(new Map(files));
    const two = await packArchive(new Map([...files].reverse()));
    expect(one.equals(two)).toBe(true);
    expect([...(await unpackArchive(one))]).toEqual([files[1], files[0]].map((f) => [...f]));
  });

  it('is read back as it was packed, whatever the sizes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.stringMatching(/^[a-z]{1,20}(\/[a-z.]{1,20})?$/), fc.uint8Array(), {
          maxKeys: 5,
        }),
        async (members) => {
          const files = new Map(Object.entries(members));
          if ([...files.keys()].some((path) => /\/\.{1,2}$/.test(path))) {
            await expect(packArchive(files)).rejects.toThrow('is not a plain relative path');
            return;
          }
          const read = await unpackArchive(await packArchive(files));
          expect(read.size).toBe(files.size);
          for (const [name, bytes] of files) {
            expect(read.get(name)?.equals(bytes)).toBe(true);
          }
        },
      ),
      { numRuns: 50 },
    );
  });

  it('is refused when it could not be delivered', async () => {
    const long = new Map([['x'.repeat(300), Buffer.from('')]]);
    await expect(packArchive(long)).rejects.toThrow('USTAR');
    const many = new Map(Array.from({ length: 2_001 }, (_, i) => [`f${i}`, Buffer.from('')]));
    await expect(packArchive(many)).rejects.toThrow('too many members');
  });
});

describe('a bundle', () => {
  it('says what it holds and whose it is', async () => {
    const { bytes, digest } = await aBundle();
    expect(digest).toBe(hash('sha256', bytes, 'hex'));
    const files = await verify(bytes);
    const manifest = BundleManifest.parse(JSON.parse(files.get('.manifest')?.toString() ?? ''));
    expect(manifest).toMatchObject({
      revision: '7',
      metadata: {
        tenant_id: TENANT,
        entrypoints: ['governance/decision'],
        sources_digest: compiled.digest,
      },
      file_rego_versions: { [`policies/${OLDER}/policy.rego`]: 0 },
    });
    expect(manifest).not.toHaveProperty('wasm');
    expect(JSON.parse(files.get('data.json')?.toString() ?? '')).toEqual({ settings: SETTINGS });
    expect(files.get('policy.wasm')?.equals(compiled.wasm)).toBe(true);
    expect(files.get(`policies/${POLICY}/policy.rego`)?.toString()).toContain('sprintf(');
  });

  it('is refused after any one-byte change of its archive or signature', async () => {
    const { bytes } = await aBundle();
    const tar = gunzipSync(bytes);
    const original = await verify(bytes);
    await fc.assert(
      fc.asyncProperty(
        fc.nat(tar.length - 1),
        fc.integer({ min: 1, max: 255 }),
        async (at, change) => {
          const altered = Buffer.from(tar);
          altered[at] = (altered[at] ?? 0) ^ change;
          // Some header bytes say nothing; then every file must still be what was signed.
          const files = await verify(gzipSync(altered, { level: 1 })).catch(() => null);
          if (files) expect([...files]).toEqual([...original]);
        },
      ),
      { numRuns: 300 },
    );
    const start = tar.indexOf('{"signatures"');
    const length = tar.indexOf('\0', start) - start;
    for (let at = start; at < start + length; at += 13) {
      const altered = Buffer.from(tar);
      altered[at] = (altered[at] ?? 0) ^ 1;
      await expect(verify(gzipSync(altered, { level: 1 })), `byte ${at}`).rejects.toThrow();
    }
  });

  it('gives its compiled policies back, but only to the key that signed it', async () => {
    const { bytes } = await aBundle();
    expect(await readCompiledSet(bytes, { tenantId: TENANT, signer })).toEqual({
      wasm: new Uint8Array(compiled.wasm),
      entrypoints: compiled.entrypoints,
      builtins: compiled.builtins,
      modules: [...compiled.modules].sort((a, b) => (a.path < b.path ? -1 : 1)),
      digest: compiled.digest,
    });
    const other = {
      ...signer,
      key: generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey,
    };
    await expect(readCompiledSet(bytes, { tenantId: TENANT, signer: other })).rejects.toMatchObject(
      { code: 'signature_invalid' },
    );
    await expect(readCompiledSet(bytes, { tenantId: POLICY, signer })).rejects.toMatchObject({
      code: 'scope_mismatch',
    });
  });

  it('has a content digest that names everything but the revision', () => {
    const base = { tenantId: TENANT, sourcesDigest: 'a', settings: SETTINGS, signer };
    const digests = [
      contentDigest(base),
      contentDigest({ ...base, tenantId: POLICY }),
      contentDigest({ ...base, sourcesDigest: 'b' }),
      contentDigest({ ...base, settings: { ...SETTINGS, mcp_servers: {} } }),
      contentDigest({ ...base, signer: { ...signer, kid: 'key-2' } }),
    ];
    expect(new Set(digests).size).toBe(digests.length);
    expect(contentDigest({ ...base })).toBe(digests[0]);
  });
});

describe('a stock opa', () => {
  const input = (resource: string, server = 'files', action = 'read') => ({
    agent: { name: 'Ada' },
    request: { action, resource, mcp_server: server },
  });
  const reason = (id: string, policy: string, rule: string, message: string) => ({
    policy_id: id,
    policy,
    rule,
    message,
  });

  it('verifies the bundle, loads it and decides from it', async (context) => {
    const opa = findNativeOpa();
    if (!opa) return context.skip(NO_NATIVE_OPA);
    const folder = await mkdtemp(join(tmpdir(), 'bundle-'));
    const bundle = join(folder, 'bundle.tar.gz');
    const key = join(folder, 'key.pem');
    await writeFile(key, pair.publicKey.export({ format: 'pem', type: 'spki' }));
    const args = [
      ...['--verification-key', key, '--verification-key-id', signer.kid],
      ...['--signing-alg', 'ES256', '--scope', TENANT, '--bundle', bundle],
    ];
    try {
      const { bytes } = await aBundle();
      await writeFile(bundle, bytes);
      const native = await startNativeOpa(opa, args);
      try {
        expect(await native.decide(input('notes'))).toEqual({
          decision: 'allow',
          reasons: [reason(POLICY, 'Readers', 'allow', 'the rule allow holds')],
        });
        expect(await native.decide(input('secret'))).toEqual({
          decision: 'deny',
          reasons: [
            reason(POLICY, 'Readers', 'deny', 'Ada may not touch secret'),
            reason(POLICY, 'Readers', 'allow', 'the rule allow holds'),
          ],
        });
        expect(await native.decide(input('notes', 'other'))).toEqual({
          decision: 'escalate',
          reasons: [
            reason(OLDER, 'Known servers', 'escalate', 'an unknown server'),
            reason(POLICY, 'Readers', 'allow', 'the rule allow holds'),
          ],
        });
      } finally {
        await native.stop();
      }

      const tar = gunzipSync(bytes);
      const at = tar.indexOf('contains(input.request.resource');
      tar[at] = (tar[at] ?? 0) ^ 1;
      await writeFile(bundle, gzipSync(tar));
      await expect(startNativeOpa(opa, args)).rejects.toThrow('digest mismatch');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
