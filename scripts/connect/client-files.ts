/**
 * Where each client keeps its servers for this user on each platform. Pure: takes the machine as an
 * argument.
 */
import { posix, win32 } from 'node:path';
import type { McpClient } from '@governance/shared/mcp/mcp-clients';
import type { JsonDialect } from './json-tree.ts';

export type KnownClient = Exclude<McpClient, 'other'>;
export type Platform = 'darwin' | 'linux' | 'win32';

export interface Machine {
  platform: Platform;
  home: string;
  env: Record<string, string | undefined>;
  /** Names in a folder; empty if there is no such folder. */
  namesIn(folder: string): string[];
}

export interface ClientFile {
  path: string;
  /** The file must lie inside this folder, symbolic links resolved. */
  root: string;
}

export interface ClientFormat {
  kind: 'json' | 'toml';
  /** The key that holds the servers. */
  section: string;
  dialect: JsonDialect;
}

const STRICT: JsonDialect = { comments: false, trailingCommas: false };

/** The format that each client reads; docs/connect.md names the sources. */
export const FORMATS: Record<KnownClient, ClientFormat> = {
  'claude-desktop': { kind: 'json', section: 'mcpServers', dialect: STRICT },
  'claude-code': { kind: 'json', section: 'mcpServers', dialect: STRICT },
  cursor: { kind: 'json', section: 'mcpServers', dialect: STRICT },
  vscode: {
    ...{ kind: 'json', section: 'servers' },
    dialect: { comments: true, trailingCommas: true },
  },
  codex: { kind: 'toml', section: 'mcp_servers', dialect: STRICT },
  'gemini-cli': {
    ...{ kind: 'json', section: 'mcpServers' },
    dialect: { comments: true, trailingCommas: false },
  },
};

/** @throws Error if a folder cannot be determined */
export function clientFile(client: KnownClient, machine: Machine): ClientFile {
  const { platform, home, env } = machine;
  const { join } = platform === 'win32' ? win32 : posix;
  const below = (root: string, ...parts: string[]) => ({ root, path: join(root, ...parts) });
  switch (client) {
    case 'claude-desktop':
      return below(...claudeDesktopFolder(machine), 'claude_desktop_config.json');
    case 'claude-code':
      return below(env.CLAUDE_CONFIG_DIR || home, '.claude.json');
    case 'cursor':
      return below(home, '.cursor', 'mcp.json');
    case 'vscode':
      return below(...applicationData(machine), 'Code', 'User', 'mcp.json');
    case 'codex':
      return env.CODEX_HOME
        ? below(env.CODEX_HOME, 'config.toml')
        : below(home, '.codex', 'config.toml');
    case 'gemini-cli':
      return below(home, '.gemini', 'settings.json');
  }
}

/** The root, and the folders below it. */
type Folder = [root: string, ...below: string[]];

/** Where applications keep the user's data. */
function applicationData({ platform, home, env }: Machine): Folder {
  if (platform === 'darwin') return [home, 'Library', 'Application Support'];
  if (platform === 'win32') return env.APPDATA ? [env.APPDATA] : [home, 'AppData', 'Roaming'];
  return env.XDG_CONFIG_HOME ? [env.XDG_CONFIG_HOME] : [home, '.config'];
}

function claudeDesktopFolder(machine: Machine): Folder {
  const { platform, home, env, namesIn } = machine;
  if (platform === 'win32') {
    // If the app was installed as a package, Windows gives it its own folder in place of APPDATA.
    const local = env.LOCALAPPDATA || win32.join(home, 'AppData', 'Local');
    const packages = win32.join(local, 'Packages');
    const found = namesIn(packages).filter((name) => name.startsWith('Claude_'));
    if (found.length > 1) {
      throw new Error(
        `Claude Desktop is there more than once in ${packages}: name the file by --file.`,
      );
    }
    const [name] = found;
    if (name !== undefined) return [local, 'Packages', name, 'LocalCache', 'Roaming', 'Claude'];
  }
  return [...applicationData(machine), 'Claude'];
}
