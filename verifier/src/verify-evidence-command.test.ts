import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
// @ts-expect-error a script without types
import { buildVerifier } from '../../scripts/build-verifier.mjs';
import { aPackage, digestOf, packMembers, sealPackage } from '../testing/package-builder.ts';
import { aStory } from '../testing/test-stories.ts';
import { timeOf } from '../testing/test-tenant.ts';
import { runVerifyEvidence } from './verify-evidence-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'verify-evidence-'));
afterAll(() => rmSync(folder, { recursive: true }));

const { tenant } = aStory();
const write = (name: string, content: string | Uint8Array) => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};
const anchor = write('anchor.json', JSON.stringify(tenant.anchor(3)));
const seal = (request: Parameters<typeof aPackage>[1]) =>
  sealPackage(aPackage(tenant, { anchorSizes: [3], ...request }), tenant.keys.evidence);
const good = write('good.tar.gz', packMembers(seal({})));

async function run(...args: string[]) {
  const out = { text: '', errors: '' };
  const code = await runVerifyEvidence(args, {
    write: (text) => {
      out.text += text;
    },
    writeError: (text) => {
      out.errors += text;
    },
  });
  return { code, ...out };
}

describe('exit codes', () => {
  it('0: verified, with the report as text or JSON', async () => {
    const text = await run(good, '--trust-anchor', anchor);
    expect(text.code).toBe(0);
    expect(text.text).toMatch(/^VERDICT: VERIFIED\n/);
    const json = await run(good, '--trust-anchor', anchor, '--json');
    expect(JSON.parse(json.text)).toMatchObject({ verdict: 'VERIFIED' });
  });

  it('1: not verified', async () => {
    const parts = aPackage(tenant, { anchorSizes: [3] });
    parts.events.pop();
    const path = write('bad.tar.gz', packMembers(sealPackage(parts, tenant.keys.evidence)));
    expect(await run(path, '--trust-anchor', anchor)).toMatchObject({ code: 1 });
  });

  it('2: no package, no file, no anchor, no options', async () => {
    const none = write('none.tar.gz', 'nothing');
    for (const args of [
      [none],
      [join(folder, 'missing')],
      [],
      [good, '--trust-anchor', none],
      [good, '--other'],
    ]) {
      expect(await run(...args)).toMatchObject({ code: 2 });
    }
  });

  it('says of a file what is wrong with it', async () => {
    const readme = write('README.md', '# not an anchor');
    const missing = join(folder, 'missing');
    const unread = `${missing} cannot be read: there is no such file.\n`;
    for (const args of [[missing], [good, '--trust-anchor', missing], ['--kept', missing]]) {
      expect((await run(...args)).errors).toBe(unread);
    }
    expect((await run(good, '--trust-anchor', readme)).errors).toBe(
      `${readme} is no trust anchor: it is not JSON of the format agent-governance-trust-anchor/v1.\n`,
    );
    expect((await run(good, '--issuers', readme)).errors).toMatch(/ is no list of issuers: /);
    expect((await run('--kept', readme)).errors).toMatch(/ is no kept log: /);
    expect((await run(good, '--anchor', anchor)).errors).toBe(
      "Unknown option '--anchor'; --help lists the options.\n",
    );
  });

  it('reads an anchor that an editor saved with a byte order mark', async () => {
    const marked = write('marked.json', `\ufeff${JSON.stringify(tenant.anchor(0))}`);
    expect(await run(good, '--trust-anchor', marked)).toMatchObject({ code: 0 });
  });

  it('3: without an anchor; 0 where the issuer is known', async () => {
    expect(await run(good)).toMatchObject({ code: 3 });
    const issuers = write('issuers.json', JSON.stringify([tenant.anchor(0)]));
    expect(await run(good, '--issuers', issuers)).toMatchObject({ code: 0 });
  });
});

describe('volumes', () => {
  const first = seal({ end: 5, volume: { number: 1, of: 2, previous: null } });
  const second = seal({
    start: 5,
    from: timeOf(0),
    volume: { number: 2, of: 2, previous: digestOf(first) },
  });
  const one = write('volume-1.tar.gz', packMembers(first));
  const two = write('volume-2.tar.gz', packMembers(second));

  it('are verified as a set', async () => {
    const { code, text } = await run(one, two, '--trust-anchor', anchor);
    expect(text).toMatch(/\nSET: VERIFIED\n$/);
    expect(code).toBe(0);
  });

  it.each([
    ['another time', { from: timeOf(1) }],
    ['another number of volumes', { volume: { number: 2, of: 3, previous: digestOf(first) } }],
  ])('of which one is of %s are no set', async (_what, given) => {
    const volume = { number: 2, of: 2, previous: digestOf(first) };
    const other = seal({ start: 5, from: timeOf(0), volume, ...given });
    const path = write('volume-of-another.tar.gz', packMembers(other));
    const { code, text } = await run(one, path, '--trust-anchor', anchor);
    expect(text).toMatch(/^\[FAIL\] set\.volumes 1\/2 file 2 is of another tenant, scope or log$/m);
    expect(code).toBe(1);
  });

  it.each([
    ['in another order', [two, one]],
    ['one of them missing', [one]],
    ['one of them twice', [one, one]],
  ])('are no set %s', async (_what, paths) => {
    const { code, text } = await run(...paths, '--trust-anchor', anchor);
    expect(code).toBe(1);
    expect(text).toContain('[FAIL] set.');
  });
});

it('is one file that bare Node runs', async () => {
  const path = await buildVerifier({ outdir: folder });
  const node = promisify(execFile)(process.execPath, [path, good, '--trust-anchor', anchor], {
    cwd: folder,
    env: {},
  });
  expect((await node).stdout).toMatch(/^VERDICT: VERIFIED\n/);
});

it('keeps its exit code and is quiet when its output is closed early, as by `head`', async () => {
  const path = await buildVerifier({ outdir: folder });
  const child = spawn(process.execPath, [path, good], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  let errors = '';
  child.stderr.on('data', (text) => {
    errors += text;
  });
  const [code] = await once(child, 'close');
  expect([code, errors]).toEqual([3, '']);
});
