/** The Inspector's command line: a process per request, as a script would use it. */
import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { assetPath } from '@governance/shared/process/assets';
import { z } from 'zod';
import { install, installNode22 } from '../conformance/install.ts';
import type { ClientKind, MatrixClient } from './client.ts';

const tools = z.looseObject({ tools: z.array(z.looseObject({ name: z.string() })) });
const resources = z.looseObject({ resources: z.array(z.looseObject({ uri: z.string() })) });

const LACKS: ClientKind['lacks'] = {
  completion: 'has no command for it',
  progress: 'does not show it',
  elicitation: 'does not declare it',
  sampling: 'does not declare it',
};

export const INSPECTOR: ClientKind = {
  title: 'Inspector CLI 1',
  packageName: '@modelcontextprotocol/inspector-cli',
  // The revision of the SDK v1 that it is built with: it has no option for another and does not
  // report it.
  revision: '2025-11-25',
  lacks: LACKS,
  async connect(url, authorization, folder) {
    const cli = assetPath('node_modules/@modelcontextprotocol/inspector-cli/build/cli.js');
    // It looks for its own package.json above its working directory.
    const program = { node: process.execPath, args: [cli], cwd: dirname(cli), home: folder };
    return newInspector(program, url, authorization);
  },
};

const VERSION_2 = '2.12.0';

/**
 * Installs the Inspector that speaks the modern era, which needs Node 22, unless it is already
 * installed.
 *
 * @throws with npm's message if npm does not install it
 */
export async function installInspector2(): Promise<ClientKind> {
  const packageName = '@modelcontextprotocol/inspector';
  const cli = await install(
    `${packageName}@${VERSION_2}`,
    `node_modules/${packageName}/clients/launcher/build/index.js`,
  );
  const node = await installNode22();
  return {
    title: 'Inspector CLI 2',
    packageName,
    version: VERSION_2,
    revision: '2026-07-28',
    lacks: LACKS,
    async connect(url, authorization, folder) {
      const program = { node, args: [cli], cwd: folder, home: folder };
      // It fails if the gateway does not offer this era.
      return newInspector(program, url, authorization, ['--protocol-era', 'modern']);
    },
  };
}

interface Program {
  node: string;
  args: string[];
  cwd: string;
  /** For what it keeps. */
  home: string;
}

function newInspector(
  program: Program,
  url: URL,
  authorization: string,
  options: string[] = [],
): MatrixClient {
  const ask = (method: string, ...args: string[]) =>
    run(program, [
      ...['--cli', url.href, '--transport', 'http', '--method', method, ...args],
      ...['--header', `Authorization: ${authorization}`, ...options],
    ]);
  const pairs = (option: string, args: Record<string, string | number>) =>
    Object.entries(args).flatMap(([name, value]) => [option, `${name}=${value}`]);
  return {
    revision: null,
    listTools: async () => parse(tools, await ask('tools/list')).tools.map(({ name }) => name),
    callTool: (name, args) => ask('tools/call', '--tool-name', name, ...pairs('--tool-arg', args)),
    listResources: async () =>
      parse(resources, await ask('resources/list')).resources.map(({ uri }) => uri),
    readResource: (uri) => ask('resources/read', '--uri', uri),
    getPrompt: (name, args) =>
      ask('prompts/get', '--prompt-name', name, ...pairs('--prompt-args', args)),
    complete: () => Promise.reject(new Error('the Inspector has no command for completion')),
    close: async () => undefined,
  };
}

function parse<T>(schema: z.ZodType<T>, text: string): T {
  return schema.parse(JSON.parse(text));
}

/** @throws with the code of the JSON-RPC error that the Inspector printed */
async function run({ node, args, cwd, home }: Program, asked: string[]): Promise<string> {
  const child = spawn(node, [...args, ...asked], {
    cwd,
    env: { ...process.env, HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code === 0) return output;
  throw Object.assign(new Error(`the Inspector ended with ${code}: ${errors.slice(-500)}`), {
    code: codeOf(errors),
  });
}

function codeOf(errors: string): number | undefined {
  const named = /MCP error (-\d+)/.exec(errors)?.[1];
  if (named !== undefined) return Number(named);
  // Version 2 prints the message without its code; no other error begins with it.
  return errors.includes('"message":"Denied by policy: ') ? -32003 : undefined;
}
