/** Where each client's file is on each platform, and the form of the entry in it. */
import { clientEntry } from '@governance/shared/mcp/mcp-clients';
import { describe, expect, it } from 'vitest';
import { clientFile, FORMATS, type KnownClient, type Machine } from './client-files.ts';
import { setJsonEntry } from './json-entry.ts';
import { setTomlEntry } from './toml-entry.ts';

const machine = (over: Partial<Machine> & Pick<Machine, 'platform'>): Machine => ({
  ...{ home: over.platform === 'win32' ? 'C:\\Users\\ann' : '/home/ann' },
  ...{ env: {}, namesIn: () => [] },
  ...over,
});
const mac = machine({ platform: 'darwin', home: '/Users/ann' });
const linux = machine({ platform: 'linux' });
const windows = machine({ platform: 'win32' });

it.each<[KnownClient, string, string, string]>([
  [
    'claude-desktop',
    '/Users/ann/Library/Application Support/Claude/claude_desktop_config.json',
    '/home/ann/.config/Claude/claude_desktop_config.json',
    'C:\\Users\\ann\\AppData\\Roaming\\Claude\\claude_desktop_config.json',
  ],
  [
    'claude-code',
    ...['/Users/ann/.claude.json', '/home/ann/.claude.json', 'C:\\Users\\ann\\.claude.json'],
  ] as [KnownClient, string, string, string],
  [
    'cursor',
    '/Users/ann/.cursor/mcp.json',
    '/home/ann/.cursor/mcp.json',
    'C:\\Users\\ann\\.cursor\\mcp.json',
  ],
  [
    'vscode',
    '/Users/ann/Library/Application Support/Code/User/mcp.json',
    '/home/ann/.config/Code/User/mcp.json',
    'C:\\Users\\ann\\AppData\\Roaming\\Code\\User\\mcp.json',
  ],
  [
    'codex',
    '/Users/ann/.codex/config.toml',
    '/home/ann/.codex/config.toml',
    'C:\\Users\\ann\\.codex\\config.toml',
  ],
  [
    'gemini-cli',
    '/Users/ann/.gemini/settings.json',
    '/home/ann/.gemini/settings.json',
    'C:\\Users\\ann\\.gemini\\settings.json',
  ],
])('%s has its file', (client, onMac, onLinux, onWindows) => {
  const paths = [mac, linux, windows].map((one) => clientFile(client, one).path);
  expect(paths).toEqual([onMac, onLinux, onWindows]);
});

describe('folders that a person has moved', () => {
  it.each<[string, KnownClient, Machine, string, string]>([
    [
      'XDG_CONFIG_HOME',
      'vscode',
      machine({ platform: 'linux', env: { XDG_CONFIG_HOME: '/data/config' } }),
      '/data/config/Code/User/mcp.json',
      '/data/config',
    ],
    [
      'CLAUDE_CONFIG_DIR',
      'claude-code',
      machine({ platform: 'darwin', env: { CLAUDE_CONFIG_DIR: '/work/claude' } }),
      '/work/claude/.claude.json',
      '/work/claude',
    ],
    [
      'CODEX_HOME',
      'codex',
      machine({ platform: 'win32', env: { CODEX_HOME: 'D:\\codex' } }),
      'D:\\codex\\config.toml',
      'D:\\codex',
    ],
    [
      'APPDATA',
      'vscode',
      machine({ platform: 'win32', env: { APPDATA: 'E:\\roaming' } }),
      'E:\\roaming\\Code\\User\\mcp.json',
      'E:\\roaming',
    ],
    [
      'the package of Claude Desktop',
      'claude-desktop',
      machine({ platform: 'win32', namesIn: () => ['Other_1', 'Claude_pzs8'] }),
      'C:\\Users\\ann\\AppData\\Local\\Packages\\Claude_pzs8\\LocalCache\\Roaming\\Claude\\claude_desktop_config.json',
      'C:\\Users\\ann\\AppData\\Local',
    ],
  ])('%s', (_what, client, given, path, root) => {
    expect(clientFile(client, given)).toEqual({ path, root });
  });

  it('two packages of Claude Desktop are not guessed between', () => {
    const both = machine({ platform: 'win32', namesIn: () => ['Claude_a', 'Claude_b'] });
    expect(() => clientFile('claude-desktop', both)).toThrow(/more than once.*--file/);
  });
});

/** Realistic contents of these files. */
const BEFORE: Record<KnownClient, string> = {
  'claude-desktop': `{
  "mcpServers": {
    "filesystem": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/srv"] }
  },
  "globalShortcut": "Ctrl+Space"
}
`,
  'claude-code': `{
  "numStartups": 12,
  "projects": { "/home/ann/work": { "mcpServers": {}, "allowedTools": [] } }
}`,
  cursor: `{ "mcpServers": {} }\n`,
  vscode: `{
\t// Asked for once.
\t"inputs": [{ "type": "promptString", "id": "key", "description": "Key", "password": true }],
\t"servers": {
\t\t"github": {
\t\t\t"type": "http",
\t\t\t"url": "https://api.githubcopilot.com/mcp/", // signs in by itself
\t\t}, /* the last one */
\t},
}
`,
  codex: `model = "gpt-5" # the usual

[mcp_servers.docs]
command = "npx"
args = [
  "-y",
  "docs-mcp", # [mcp_servers.governance]
]

[profiles.work]
model = "gpt-5"
`,
  'gemini-cli': `{
  // The theme of the terminal
  "ui": { "theme": "GitHub" },
  "mcpServers": {
    "local": { "command": "node", "args": ["server.js"] } // mine
  }
}
`,
};

it.each(
  Object.keys(FORMATS) as KnownClient[],
)('%s gets its entry as it is kept here', async (client) => {
  const { kind, section, dialect } = FORMATS[client];
  const entry = clientEntry(client, {
    ...{ url: 'https://governance.example/mcp/v1', authorization: 'Basic YWNyXzE6c2VjcmV0' },
  });
  const write = (text: string) =>
    kind === 'json'
      ? setJsonEntry(text, section, 'governance', entry, dialect)
      : setTomlEntry(text, section, 'governance', entry);
  await expect(write(BEFORE[client])).toMatchFileSnapshot(`golden/${client}.merged.txt`);
  await expect(write('')).toMatchFileSnapshot(`golden/${client}.new.txt`);
});
