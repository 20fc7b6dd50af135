/** Installs a version of the MCP conformance suite and runs it against a server. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Check } from './compare.ts';
import { install, installNode22, kept, run } from './install.ts';

/** A version of the suite and the arguments of one run. */
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
 * Installs what a run needs, unless it is already installed.
 *
 * @throws with npm's message if npm does not install it
 */
export async function installSuite({ version, needsNode22 }: SuiteRun): Promise<Suite> {
  const suite = await install(
    `@modelcontextprotocol/conformance@${version}`,
    'node_modules/@modelcontextprotocol/conformance/dist/index.js',
  );
  return { node: needsNode22 ? await installNode22() : process.execPath, entry: suite };
}

const checksFile = z.array(
  z.looseObject({ id: z.string(), status: z.string(), errorMessage: z.string().optional() }),
);

/**
 * Runs the suite.
 *
 * @returns every check of every scenario, sorted by the scenarios' names
 * @throws if the suite ends without the result of any scenario
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
