/** One cell of the matrix: a client, a server, a credential and a path, and the result. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type ClientKind, errorCode, type MatrixClient, STEPS, type Step } from './client.ts';
import type { ServerKind } from './servers.ts';

export const SCHEMES = ['Basic', 'Bearer'] as const;
export type Scheme = (typeof SCHEMES)[number];

export const PATHS = ['direct', 'unified'] as const;
export type Path = (typeof PATHS)[number];

export interface Cell {
  client: ClientKind;
  server: ServerKind;
  scheme: Scheme;
  path: Path;
}

export interface CellResult {
  cell: Cell;
  done: Step[];
  /** What went wrong; a cell without a failure is ok. */
  failure?: string;
}

/** Where the cell is run. */
export interface CellPlace {
  /** Address of the service. */
  url: string;
  authorization: string;
  /** For files of the client. */
  folder: string;
}

const DENIED = -32003;
/** Per step: a client that starts a process for each one takes seconds. */
const PATIENCE_MS = 45_000;

/** Names of a server's tools, resources and prompts at the path of the cell. */
interface Names {
  tool(name: string): string;
  uri(uri: string): string;
}

/** Runs a cell. Never rejects: failures are part of the result. */
export async function runCell(cell: Cell, place: CellPlace): Promise<CellResult> {
  const result: CellResult = { cell, done: [] };
  const over = new AbortController();
  try {
    await Promise.race([runSteps(result, place), untilSilent(result, over.signal)]);
  } catch (error) {
    result.failure = `after ${result.done.at(-1) ?? 'nothing'}: ${messageOf(error)}`;
  } finally {
    over.abort();
  }
  return result;
}

/** Rejects if no step completes for this long, however long all of them take. */
async function untilSilent({ done }: CellResult, signal: AbortSignal): Promise<never> {
  for (;;) {
    const before = done.length;
    await sleep(PATIENCE_MS, undefined, { signal });
    if (done.length === before) throw new Error(`nothing for ${PATIENCE_MS} ms`);
  }
}

async function runSteps(result: CellResult, place: CellPlace): Promise<void> {
  const { client: kind, server, path } = result.cell;
  const unified = path === 'unified';
  const url = new URL(`${place.url}/mcp/v1${unified ? '' : `/${server.id}`}`);
  const names: Names = {
    tool: (name) => (unified ? `${server.id}__${name}` : name),
    uri: (uri) => (unified ? `mcp+${server.id}+${uri}` : uri),
  };
  const client = await kind.connect(url, place.authorization, place.folder);
  try {
    if (client.revision !== null && client.revision !== kind.revision) {
      throw new Error(`spoke ${client.revision} instead of ${kind.revision}`);
    }
    for (const step of STEPS) {
      const act = actOf(step, client, server, names);
      if (act === undefined || kind.lacks[step] !== undefined) continue;
      await act().catch((error: unknown) => {
        throw new Error(`${step}: ${messageOf(error)}`, { cause: error });
      });
      result.done.push(step);
    }
  } finally {
    await client.close();
  }
}

/** @returns undefined if the server has nothing of the kind */
function actOf(
  step: Step,
  client: MatrixClient,
  server: ServerKind,
  names: Names,
): (() => Promise<void>) | undefined {
  const call = ({ tool, args, shows }: Required<ServerKind>['elicitation']) =>
    expectShown(shows, client.callTool(names.tool(tool), args));
  const { denied, resource, prompt, completion, progress, elicitation, sampling } = server;
  switch (step) {
    case 'tools':
      return async () => expectAmong(names.tool(server.call.tool), await client.listTools());
    case 'call':
      return () => call(server.call);
    case 'denied call':
      return () => expectDenied(client.callTool(names.tool(denied.tool), denied.args));
    case 'resources':
      return resource && (() => readResource(client, names.uri(resource.uri), resource.shows));
    case 'prompt':
      return (
        prompt &&
        (() => expectShown(prompt.shows, client.getPrompt(names.tool(prompt.name), prompt.args)))
      );
    case 'completion':
      return completion && (() => complete(client, names, completion));
    case 'progress':
      return progress && (() => expectProgress(client, names.tool(progress.tool), progress.args));
    case 'elicitation':
      return elicitation && (() => call(elicitation));
    case 'sampling':
      return sampling && (() => call(sampling));
  }
}

async function readResource(client: MatrixClient, uri: string, shows: string): Promise<void> {
  expectAmong(uri, await client.listResources());
  const read = client.readResource(uri);
  await expectShown(shows, read);
  await expectShown(JSON.stringify(uri), read);
}

async function complete(
  client: MatrixClient,
  names: Names,
  { prompt, argument, value, shows }: Required<ServerKind>['completion'],
): Promise<void> {
  expectAmong(shows, await client.complete(names.tool(prompt), argument, value));
}

async function expectProgress(
  client: MatrixClient,
  tool: string,
  args: Record<string, string | number>,
): Promise<void> {
  let heard = 0;
  await client.callTool(tool, args, () => {
    heard++;
  });
  // One is enough: clients drop notifications that they read along with the answer.
  if (heard === 0) throw new Error('heard of no step');
}

async function expectShown(text: string, answer: Promise<string>): Promise<void> {
  const shown = await answer;
  // The Inspector prints JSON over several lines.
  if (!JSON.stringify(JSON.parse(shown)).includes(text)) {
    throw new Error(`no ${text} in ${shown.slice(0, 300)}`);
  }
}

async function expectDenied(answer: Promise<string>): Promise<void> {
  const code = await answer.then(
    (result) => `a result: ${result.slice(0, 300)}`,
    (error: unknown) => errorCode(error) ?? messageOf(error),
  );
  if (code !== DENIED) throw new Error(`not denied with ${DENIED}, but ${code}`);
}

function expectAmong(wanted: string, found: string[]): void {
  if (!found.includes(wanted)) throw new Error(`no ${wanted} among ${found.join(', ')}`);
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = errorCode(error);
  return code === undefined ? error.message : `${error.message} (${code})`;
}
