/** The command as CI runs it: offline on files, and against a listening control plane. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { assetPath } from '@governance/shared/process/assets';
import { afterAll, describe, expect, it } from 'vitest';
import { testControlPlane } from '../../tests/support/test-control-plane.ts';
import { EXIT, runPolicies } from './policies-command.ts';

const cp = await testControlPlane();
await cp.app.listen({ port: 0, host: '127.0.0.1' });
const url = `http://127.0.0.1:${(cp.app.server.address() as AddressInfo).port}`;
const root = mkdtempSync(join(tmpdir(), 'policies-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let made = 0;
function aFolder(files: Record<string, string>): string {
  const folder = join(root, String(made++));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

async function run(args: string[], env: NodeJS.ProcessEnv = {}) {
  const lines: string[] = [];
  const out = {
    write: (line: string) => lines.push(line),
    writeError: (line: string) => lines.push(line),
  };
  const code = await runPolicies(args, env, out);
  return { code, text: lines.join('\n') };
}

const FREEZE = `# METADATA
# title: "Freeze: all"
# description: >
#   Nobody writes
#   on Fridays.
# custom:
#   status: draft
package freeze

deny contains "frozen" if input.request.action == "write"
`;
const HOLD = 'package hold\n\nescalate contains "a person" if input.request.action == "delete"\n';

describe('check', () => {
  it('compiles the policies that the product ships', async () => {
    const { code, text } = await run(['check', assetPath('policies/rego/baseline')]);
    expect([code, text]).toEqual([EXIT.ok, '4 policies compile']);
  });

  it('names file, line and column of what does not', async () => {
    const folder = aFolder({ 'sub/bad.rego': 'package bad\n\nallow if {\n\tinputt.x\n}\n' });
    const { code, text } = await run(['check', folder]);
    expect(code).toBe(EXIT.differs);
    expect(text).toMatch(/^sub\/bad\.rego:4:2: .*inputt/);
    expect(text).toMatch(/\n1 error$/);
  });

  it('says of a folder without policies what to put there', async () => {
    const { code, text } = await run(['check', aFolder({ 'README.md': '' })]);
    expect([code, text]).toEqual([
      EXIT.failed,
      expect.stringMatching(/ has no policies: .*\.rego/),
    ]);
  });
});

describe('test', () => {
  it('runs the tests beside the policies', async () => {
    const { code, text } = await run(['test', assetPath('policies/rego/baseline')]);
    expect([code, text]).toEqual([
      EXIT.ok,
      expect.stringMatching(/^\d\d passed, 0 failed, 0 errors/),
    ]);
  });

  it('names what fails', async () => {
    const folder = aFolder({
      'freeze.rego': FREEZE,
      'freeze_test.rego':
        'package freeze_test\n\nimport data.freeze\n\ntest_lets_reads_pass if count(freeze.deny) == 1 with input as {"request": {"action": "read"}}\n',
    });
    const { code, text } = await run(['test', folder]);
    expect(code).toBe(EXIT.differs);
    expect(text).toMatch(/^freeze_test\.rego:5: fail .*test_lets_reads_pass/);
    expect(text).toContain('0 passed, 1 failed');
  });
});

describe('diff and apply', () => {
  async function aTenant() {
    const { token, scope } = await cp.aTenantAdmin();
    const list = async () =>
      (await cp.call('/api/v1/policies', { token })).json().policies as Record<string, string>[];
    const at = (...args: string[]) => run([...args, '--url', url], { GOVERNANCE_TOKEN: token });
    return { token, scope, list, at };
  }

  it('makes the control plane what the folder is, and nothing without --yes', async () => {
    const { list, at } = await aTenant();
    const folder = aFolder({ 'freeze.rego': FREEZE, 'hold.rego': HOLD });
    const shown = await at('diff', folder);
    expect([shown.code, shown.text]).toEqual([
      EXIT.differs,
      '+ Freeze: all (draft)\n+ hold (active)',
    ]);
    expect((await at('apply', folder)).code).toBe(EXIT.differs);
    expect(await list()).toEqual([]);

    expect((await at('apply', folder, '--yes')).code).toBe(EXIT.ok);
    expect(await list()).toMatchObject([
      { name: 'Freeze: all', description: 'Nobody writes on Fridays.', status: 'draft' },
      { name: 'hold', description: '', status: 'active', rego_content: HOLD },
    ]);
    expect(await at('diff', folder)).toEqual({ code: EXIT.ok, text: 'the same' });

    const next = aFolder({ 'hold.rego': `${HOLD}\n# reviewed\n` });
    const differs = await at('diff', next, '--prune');
    expect(differs.text).toBe(
      '~ hold: source differs from line 5\n~ Freeze: all: status: draft -> archived',
    );
    expect((await at('apply', next, '--prune', '--yes')).code).toBe(EXIT.ok);
    expect(await list()).toMatchObject([
      { status: 'archived' },
      { name: 'hold', status: 'active' },
    ]);
  });

  it('leaves what the folder does not have, and says so', async () => {
    const { at } = await aTenant();
    await at('apply', aFolder({ 'freeze.rego': FREEZE, 'hold.rego': HOLD }), '--yes');
    const shown = await at('diff', aFolder({ 'hold.rego': HOLD }));
    expect(shown.code).toBe(EXIT.ok);
    expect(shown.text).toContain('Freeze: all (draft) is not in the folder');
  });

  it('proposes where four eyes are wanted, once', async () => {
    const { token, list, at } = await aTenant();
    await at('apply', aFolder({ 'hold.rego': HOLD }), '--yes');
    const body = { policies: { require_change_requests: true } };
    const set = await cp.call('/api/v1/admin/settings', { token, body, method: 'PATCH' });
    expect(set.statusCode, set.body).toBe(200);
    const folder = aFolder({
      'hold.rego': `${HOLD}\n`,
      'open.rego': 'package open\n\nallow := true\n',
    });
    const first = await at('apply', folder, '--yes');
    expect(first.text).toMatch(/proposed hold: change request .*\nproposed open: change request /);
    const policies = await list();
    expect(policies.map(({ name, status }) => `${name} ${status}`)).toEqual([
      'hold active',
      'open draft',
    ]);
    const again = await at('apply', folder, '--yes');
    expect(again.text.match(/waits already/g)).toHaveLength(2);
    const pending = await cp.call('/api/v1/policies/change-requests/pending', { token });
    expect(pending.json().total).toBe(2);
  });
});

it.each([
  [[], /npm run policies/],
  [['check'], /npm run policies/],
  [['check', '/nowhere'], /cannot be read/],
  [['check', '.', '--wrong'], /--wrong/],
  [['diff', assetPath('policies/rego/baseline')], /needs --url and --token/],
  [['diff', assetPath('policies/rego/baseline'), '--url', url, '--token', 'x'], /401/],
  [
    ['diff', assetPath('policies/rego/baseline'), '--url', 'http://127.0.0.1:1', '--token', 'x'],
    /cannot be reached/,
  ],
] as const)('%j is a 2 that says why', async (args, why) => {
  const { code, text } = await run([...args]);
  expect(code).toBe(EXIT.failed);
  expect(text).toMatch(why);
});

it.each([
  [{ 'a.rego': FREEZE, 'b.rego': FREEZE }, /both named "Freeze: all"/],
  [{ 'a_test.rego': 'package a_test\n' }, /there is no a\.rego beside it/],
  [{ 'a.rego': FREEZE.replace('draft', 'on') }, /custom\.status must be one of/],
  [{ 'a.txt': '' }, /has no policies/],
])('the files %j are refused', async (files, why) => {
  const { code, text } = await run(['check', aFolder(files as Record<string, string>)]);
  expect(code).toBe(EXIT.failed);
  expect(text).toMatch(why);
});
