/**
 * A real MCP client and the real filesystem server: a call beyond the blast radius never reaches
 * the server.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_BLAST_RADIUS } from '@governance/shared/detect/reach/blast-radius-settings';
import { assetPath } from '@governance/shared/process/assets';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { STDIO_SERVER, startTestPlane, type TestPlane } from '../../testing/test-plane.ts';

const FILESYSTEM = assetPath('node_modules/@modelcontextprotocol/server-filesystem/dist/index.js');

let plane: TestPlane;
let folder: string;
let client: Client;
beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'governance-reach-')));
  mkdirSync(join(folder, 'conf'));
  writeFileSync(join(folder, 'conf/app.ini'), 'a=1');
  writeFileSync(join(folder, 'site.pem'), 'a key');
  const files = { command: process.execPath, args: [FILESYSTEM, folder], env: {}, cwd: folder };
  plane = await startTestPlane({
    servers: [STDIO_SERVER('files')],
    stdioServers: new Map([['files', files]]),
    // Escalations are not waited for here.
    config: { holdWaitMs: 0 },
  });
  plane.setSettings({
    blast_radius: { ...DEFAULT_BLAST_RADIUS, config_path_prefixes: [`${folder}/conf/`] },
  });
  const { basic } = plane.addAgent(['*:*']);
  client = new Client({ name: 'test', version: '1' });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${plane.url}/mcp/v1/files`), {
      requestInit: { headers: { authorization: basic } },
    }),
  );
});
afterAll(async () => {
  await client?.close();
  await plane?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const use = async (name: string, args: Record<string, unknown>) => {
  try {
    const { isError } = await client.callTool({ name, arguments: args });
    return isError ? 'the server’s error' : 'done';
  } catch (error) {
    const { code, message } = error as { code: number; message: string };
    return `${code} ${message}`;
  }
};

it('forwards what is within bounds, denies and escalates the rest, and says so', async () => {
  const at = (path: string) => join(folder, path);
  expect(await use('write_file', { path: at('a.txt'), content: 'rm -rf /' })).toBe('done');
  expect(await use('move_file', { source: at('a.txt'), destination: at('b.txt') })).toBe('done');
  expect(await use('read_text_file', { path: at('conf/app.ini') })).toBe('done');
  const key = await use('write_file', { path: at('site.pem'), content: 'mine' });
  expect(key).toMatch(/-32003.*Denied by policy: Blast radius: the call writes a protected file/);
  const hidden = await use('write_file', { path: at('x/%2e%2e/site.PEM'), content: 'mine' });
  expect(hidden).toContain('-32003');
  expect(await use('read_text_file', { path: at('site.pem') })).toContain('-32004');
  const edit = { path: at('x/../conf/app.ini'), edits: [{ oldText: 'a=1', newText: 'a=2' }] };
  expect(await use('edit_file', edit)).toMatch(/-32004.*configuration/);
  const move = { source: '/tmp', destination: at('tmp') };
  expect(await use('move_file', move)).toContain('-32003');
  expect(readFileSync(at('site.pem'), 'utf8')).toBe('a key');
  expect(readFileSync(at('conf/app.ini'), 'utf8')).toBe('a=1');
  expect(existsSync(at('b.txt'))).toBe(true);

  const records = await plane.records();
  const decisions = records.flatMap((one) =>
    one.type === 'decision' && one.policy_result !== 'allow'
      ? [`${one.policy_result} ${one.decided_by}`]
      : [],
  );
  expect(decisions).toEqual([
    'deny blast-radius',
    'deny blast-radius',
    'escalate policy',
    'escalate policy',
    'deny blast-radius',
  ]);
  const alerts = records.flatMap((one) => (one.type === 'alert' ? [one] : []));
  expect(new Set(alerts.map(({ alert_type }) => alert_type))).toEqual(
    new Set(['BLAST_RADIUS_ESCALATION']),
  );
  expect(await plane.registry.metrics()).toContain(
    'governance_blast_radius_total{rule="protected_file",verdict="deny"} 2',
  );
});
