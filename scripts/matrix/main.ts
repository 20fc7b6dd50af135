/**
 * `npm run matrix`: every client with every server, with both credentials, at the server's own path
 * and at the unified one, through one real service. It writes the table of
 * docs/mcp-compatibility.md (`--check` writes nothing, `--only <text>` runs the cells whose name
 * has the text) and exits with 1 if a cell fails.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { assetPath } from '@governance/shared/process/assets';
import { type Cell, type CellResult, PATHS, runCell, SCHEMES, type Scheme } from './cell.ts';
import type { ClientKind } from './client.ts';
import { startEnvironment } from './environment.ts';
import { INSPECTOR, installInspector2 } from './inspector-client.ts';
import { matrixSection, withMatrix } from './page.ts';
import { MCP_REMOTE, SDK_V1, SDK_V2_LEGACY, SDK_V2_MODERN } from './sdk-clients.ts';
import type { ServerKind } from './servers.ts';

const PAGE = 'docs/mcp-compatibility.md';
const started = Date.now();

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { check: { type: 'boolean' }, only: { type: 'string' } },
  });
  const clients = [SDK_V1, SDK_V2_LEGACY, SDK_V2_MODERN, INSPECTOR, MCP_REMOTE];
  const notRun = await installInspector2().then(
    (inspector) => {
      clients.push(inspector);
    },
    (error: Error) =>
      `the Inspector 2, which needs Node 22 in a folder of its own; ${error.message}`,
  );
  const environment = await startEnvironment(clients);
  let results: CellResult[];
  try {
    print(`the service runs with ${environment.servers.length} servers`);
    const cells = allCells(clients, environment.servers).filter((cell) =>
      nameOf(cell).includes(values.only ?? ''),
    );
    results = await runAll(cells, async (cell) => {
      const begun = Date.now();
      const result = await runCell(cell, environment.place(cell.client, cell.scheme));
      const verdict = result.failure ?? `ok: ${result.done.join(', ')}`;
      print(`${nameOf(cell).padEnd(62)} ${String(Date.now() - begun).padStart(5)} ms  ${verdict}`);
      return result;
    });
  } finally {
    await environment.stop();
  }
  const failed = results.filter(({ failure }) => failure !== undefined);
  print(`${results.length - failed.length} of ${results.length} cells are ok`);
  for (const { cell, failure } of failed) console.log(`  ${nameOf(cell)}: ${failure}`);
  if (notRun) console.log(`not run: ${notRun}`);
  const isForPage = !values.check && values.only === undefined;
  // The table is written with every client or not at all.
  if (failed.length > 0 || (isForPage && notRun)) process.exitCode = 1;
  else if (isForPage) await writePage(results);
}

/** In the order of the table. */
function allCells(clients: ClientKind[], servers: ServerKind[]): Cell[] {
  return clients.flatMap((client) =>
    servers.flatMap((server) =>
      PATHS.flatMap((path) => SCHEMES.map((scheme) => ({ client, server, scheme, path }))),
    ),
  );
}

/**
 * Runs each credential's cells one after the other, and both credentials in parallel.
 *
 * @returns their results in the order of the cells
 */
async function runAll(
  cells: Cell[],
  run: (cell: Cell) => Promise<CellResult>,
): Promise<CellResult[]> {
  const results: CellResult[] = [];
  const runOf = async (scheme: Scheme) => {
    for (const [index, cell] of cells.entries()) {
      if (cell.scheme === scheme) results[index] = await run(cell);
    }
  };
  await Promise.all(SCHEMES.map(runOf));
  return results;
}

async function writePage(results: CellResult[]): Promise<void> {
  const file = assetPath(PAGE);
  await writeFile(file, withMatrix(await readFile(file, 'utf8'), matrixSection(results)));
  print(`wrote ${PAGE}`);
}

function nameOf({ client, server, scheme, path }: Cell): string {
  return `${client.title} / ${server.title} / ${scheme} / ${path}`;
}

function print(text: string): void {
  console.log(`[${((Date.now() - started) / 1000).toFixed(1).padStart(5)} s] ${text}`);
}

await main();
