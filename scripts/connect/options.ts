import { parseArgs } from 'node:util';
import { ENTRY_NAME, McpClient } from '@governance/shared/mcp/mcp-clients';
import type { KnownClient } from './client-files.ts';

export interface ConnectOptions {
  client: KnownClient;
  /** The service's address, without a trailing slash. */
  url: string;
  /** The entry's URL; asked of the service unless given. */
  gateway: string | undefined;
  /** Of the entry. */
  name: string;
  /** Used in place of the client's own. */
  file: string | undefined;
  action: 'connect' | 'show' | 'undo';
  replace: boolean;
}

/** A problem with the command line. */
export class UsageError extends Error {
  override name = 'UsageError';
}

export const USAGE = `npm run connect -- --client <client> [--url <service>] [options]

  --client     claude-desktop, claude-code, cursor, vscode, codex or gemini-cli
  --url        the service's address (http://localhost:8080)
  --gateway    where agents reach the gateway, if that is elsewhere: https://data-plane.example/mcp/v1
  --name       the entry's name (${ENTRY_NAME})
  --file       another file than the client's own
  --dry-run    show what would be written; uses no token
  --replace    replace an entry of that name
  --undo       take the last run back
  --allow-http let the credential travel to another machine without TLS

The installer token comes from SERVICE_INSTALLER_TOKEN, from standard input, or is asked for. It is
never an argument: other users of this machine see those.
`;

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** @throws UsageError, which never repeats an argument: it may be a secret in the wrong place */
export function readOptions(args: readonly string[]): ConnectOptions | 'help' {
  const given = parse(args);
  if (given.help) return 'help';
  const parsed = McpClient.exclude(['other']).safeParse(given.client);
  if (!parsed.success) throw new UsageError('--client names an unknown client.');
  if (!NAME.test(given.name)) {
    throw new UsageError('--name may have only letters, digits, _ and -, at most 64 of them.');
  }
  if (given.undo && given['dry-run'])
    throw new UsageError('--undo cannot be combined with --dry-run.');
  const allowHttp = given['allow-http'];
  return {
    client: parsed.data,
    url: readAddress(given.url, '--url', allowHttp),
    gateway: given.gateway && readAddress(given.gateway, '--gateway', allowHttp),
    ...{ name: given.name, file: given.file, replace: given.replace },
    action: given.undo ? 'undo' : given['dry-run'] ? 'show' : 'connect',
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        client: { type: 'string' },
        url: { type: 'string', default: 'http://localhost:8080' },
        gateway: { type: 'string' },
        name: { type: 'string', default: ENTRY_NAME },
        file: { type: 'string' },
        'dry-run': { type: 'boolean', default: false },
        replace: { type: 'boolean', default: false },
        undo: { type: 'boolean', default: false },
        'allow-http': { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    }).values;
  } catch {
    throw new UsageError('These options are unknown.');
  }
}

const LOOPBACK = /^(localhost|127(\.[0-9]{1,3}){3}|\[::1\])$/;

/** An address without credentials, query and trailing slashes; plain HTTP only on this machine. */
function readAddress(text: string, option: string, allowHttp: boolean): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new UsageError(`${option} is not an http or https address.`);
  }
  if (url.username || url.password || url.search || url.hash) {
    throw new UsageError(`${option} must be an address without credentials or query.`);
  }
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname) && !allowHttp) {
    throw new UsageError(
      `${option} names another machine without TLS: use https, or --allow-http.`,
    );
  }
  let end = url.href.length;
  while (url.href[end - 1] === '/') end -= 1;
  return url.href.slice(0, end);
}
