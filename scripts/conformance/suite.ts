/**
 * Installs a version of the MCP conformance suite and runs it against a server. The suite is no
 * dependency of this project: each version has a folder of its own under .tmp, kept for the next
 * run, and the newer one a Node 22 beside it.
 */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Check } from './compare.ts';

const kept = join(import.meta.dirname, '../../.tmp/conformance');
const NODE_22 = '22.23.3';

/** A version of the suite and the arguments of one run of it. */
export interface SuiteRun {
  title: string;
  version: string;
  needsNode22: boolean;
  args: string[];
}

/** An installed suite: the program that runs it and its entry point. */
export interface Suite {
  node: string;
  entry: string;
}

/**
 * Installs what a run needs, or finds it installed.
 *
 * @throws with npm's words when npm does not install it
 */
export async function installSuite({ version, needsNode22 }: SuiteRun): Promise<Suite> {
  const suite = await install(
    `@modelcontextprotocol/conformance@${version}`,
    'node_modules/@modelcontextprotocol/conformance/dist/index.js',
  );
  if (!needsNode22 || Number(process.versions.node.split('.')[0]) >= 22) {
    return { node: process.execPath, entry: suite };
  }
  return { node: await install(`node@${NODE_22}`, 'node_modules/node/bin/node'), entry: suite };
}

async function install(spec: string, file: string): Promise<string> {
  const folder = join(kept, spec.replaceAll(/[@/]+/g, '-').replace(/^-/, ''));
  const installed = join(folder, file);
  if (await isFile(installed)) return installed;
  await mkdir(kept, { recursive: true });
  // Beside and then renamed, so that an install that broke off is not taken for a whole one.
  const fresh = await mkdtemp(`${folder}-`);
  try {
    await writeFile(join(fresh, 'package.json'), '{"private":true}\n');
    const npm = await run(
      'npm',
      ['install', '--no-audit', '--no-fund', '--save-exact', spec],
      fresh,
    );
    if (npm.code !== 0 || !(await isFile(join(fresh, file)))) {
      throw new Error(`npm did not install ${spec}:\n${npm.output}`);
    }
    await rm(folder, { recursive: true, force: true });
    await rename(fresh, folder);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
  return installed;
}

const checksFile = z.array(
  z.looseObject({ id: z.string(), status: z.string(), errorMessage: z.string().optional() }),
);

/**
 * Runs the suite.
 *
 * @returns every check of every scenario, in the order of the scenario's names
 * @throws when the suite ends without the result of a single scenario
 */
export async function runSuite(suite: Suite, args: string[], url: string): Promise<Check[]> {
  const results = await mkdtemp(join(kept, 'results-'));
  try {
    const { output } = await run(
      suite.node,
      [suite.entry, 'server', '--url', url, '--output-dir', results, ...args],
      results,
    );
    const checks: Check[] = [];
    for (const file of (await readdir(results, { recursive: true })).sort()) {
      // <scenario>-<time>/checks.json
      const scenario = /(?:^|\/)(?:server-)?([^/]+?)-\d{4}-\d\d-\d\dT[^/]*\/checks\.json$/.exec(
        file,
      )?.[1];
      if (scenario === undefined) continue;
      const found = checksFile.parse(JSON.parse(await readFile(join(results, file), 'utf8')));
      checks.push(
        ...found.map(({ id, status, errorMessage }) => ({ scenario, id, status, errorMessage })),
      );
    }
    if (checks.length === 0) throw new Error(`the suite left no result:\n${output}`);
    return checks;
  } finally {
    await rm(results, { recursive: true, force: true });
  }
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}

async function run(
  command: string,
  args: string[],
  cwd: string,
): Promise<{ code: number | null; output: string }> {
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const keep = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-20_000);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { code, output };
}
