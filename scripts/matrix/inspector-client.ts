/** The Inspector's command line: a process for every request, as a script would use it. */
import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { assetPath } from '@governance/shared/assets';
import { z } from 'zod';
import type { ClientKind, MatrixClient } from './client.ts';

const tools = z.looseObject({ tools: z.array(z.looseObject({ name: z.string() })) });
const resources = z.looseObject({ resources: z.array(z.looseObject({ uri: z.string() })) });

export const INSPECTOR: ClientKind = {
  title: 'Inspector CLI',
  packageName: '@modelcontextprotocol/inspector-cli',
  // That of the SDK v1 which it is built with: it has no option for another, and does not tell.
  revision: '2025-11-25',
  lacks: {
    completion: 'has no command for it',
    progress: 'does not show it',
    elicitation: 'does not declare it',
    sampling: 'does not declare it',
  },
  connect: async (url, authorization) => newInspector(url, authorization),
};

function newInspector(url: URL, authorization: string): MatrixClient {
  const ask = (method: string, ...args: string[]) =>
    run(url, authorization, ['--method', method, ...args]);
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
async function run(url: URL, authorization: string, args: string[]): Promise<string> {
  const cli = assetPath('node_modules/@modelcontextprotocol/inspector-cli/build/cli.js');
  const child = spawn(
    process.execPath,
    [
      ...[cli, '--cli', url.href, '--transport', 'http', ...args],
      ...['--header', `Authorization: ${authorization}`],
    ],
    // It looks for its own package.json above the folder in which it is run.
    { cwd: dirname(cli), stdio: ['ignore', 'pipe', 'pipe'] },
  );
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
  const named = /MCP error (-\d+)/.exec(errors + output)?.[1];
  throw Object.assign(new Error(`the Inspector ended with ${code}: ${errors.slice(-500)}`), {
    code: named === undefined ? undefined : Number(named),
  });
}
