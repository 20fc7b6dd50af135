/** docs/connect.md: the snippets to paste are valid, where the format is ours. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readStdioServers } from '@governance/data-plane/upstream/stdio/servers-file';
import { assetPath } from '@governance/shared/process/assets';
import { describe, expect, it } from 'vitest';

const page = readFileSync(assetPath('docs/connect.md'), 'utf8');
const blocks = [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language, text]) => ({
  language,
  text: text as string,
}));
const jsons = blocks.filter(({ language }) => language === 'json').map(({ text }) => text);

describe('docs/connect.md', () => {
  it('has an entry for each client, each of which leads to the gateway', () => {
    for (const name of [
      'Claude Code',
      'Claude Desktop',
      'VS Code',
      'Cursor',
      'Codex',
      'Gemini CLI',
      'Python',
      'Go',
    ]) {
      const section = page.split(`### ${name}\n`)[1]?.split('\n### ')[0] ?? '';
      expect(section, name).toMatch(/mcp\/v1/);
    }
    for (const text of jsons) expect(() => JSON.parse(text)).not.toThrow();
  });

  it('has a servers file that the data plane reads', () => {
    const folder = mkdtempSync(join(tmpdir(), 'governance-connect-'));
    try {
      const path = join(folder, 'servers.json');
      writeFileSync(path, jsons.at(-1) as string, { mode: 0o600 });
      const servers = readStdioServers(path);
      expect([...servers.keys()]).toEqual(['files', 'notes']);
      expect(servers.get('notes')?.tenants).toHaveLength(1);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it.runIf(process.platform !== 'win32')(
    'keeps the header in a file that nobody else reads',
    () => {
      const home = mkdtempSync(join(tmpdir(), 'governance-connect-'));
      try {
        const script = blocks.find(({ text }) => text.includes('umask'))?.text as string;
        const said = execFileSync('sh', ['-ec', `${script}\nprintf %s "$AGENT_AUTH"`], {
          env: {
            PATH: process.env.PATH,
            HOME: home,
            CLIENT_ID: 'id',
            CLIENT_SECRET: 'a'.repeat(90),
          },
          encoding: 'utf8',
        });
        expect(said).toBe(`Basic ${Buffer.from(`id:${'a'.repeat(90)}`).toString('base64')}`);
        expect(statSync(join(home, '.agent-auth')).mode & 0o777).toBe(0o600);
      } finally {
        rmSync(home, { recursive: true });
      }
    },
  );
});
