/** The part of docs/mcp-compatibility.md that the matrix writes. */
import { readFileSync } from 'node:fs';
import { assetPath } from '@governance/shared/process/assets';
import { format } from '../markdown-table.ts';
import { type Cell, type CellResult, PATHS, SCHEMES } from './cell.ts';
import type { ClientKind } from './client.ts';
import type { ServerKind } from './servers.ts';

const BEGIN = '<!-- Written by `npm run matrix` from here on. -->';
const END = '<!-- Written by `npm run matrix` up to here. -->';

/** Replaces the section between the two marks of the page. */
export function withMatrix(page: string, section: string): string {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin < 0 || end < begin) throw new Error('the page has no place for the matrix');
  return `${page.slice(0, begin + BEGIN.length)}\n\n${section}\n${page.slice(end)}`;
}

/** The section: the participants, and a row for each client with each server. */
export function matrixSection(results: CellResult[]): string {
  const clients = distinct(results.map(({ cell }) => cell.client));
  const servers = distinct(results.map(({ cell }) => cell.server));
  return [participants(clients, servers), cells(results), lacks(clients)].join('\n');
}

function participants(clients: ClientKind[], servers: ServerKind[]): string {
  const rows = [
    ...clients.map(({ title, packageName, version = versionOf(packageName), revision }) => [
      title,
      'client',
      `${packageName} ${version}`,
      revision,
    ]),
    ...servers.map(({ title, packageName, revision }) => [
      title,
      'server',
      `${packageName} ${versionOf(packageName)}`,
      revision,
    ]),
  ];
  return format(['Name here', 'Role', 'Package', 'Revision'], rows);
}

function cells(results: CellResult[]): string {
  const ways = PATHS.flatMap((path) => SCHEMES.map((scheme) => ({ path, scheme })));
  const rows = [];
  for (const first of results) {
    const row = results.filter(({ cell }) => isSameRow(cell, first.cell));
    if (row[0] !== first) continue;
    const verdicts = ways.map(({ path, scheme }) => {
      const result = row.find(({ cell }) => cell.path === path && cell.scheme === scheme);
      if (result === undefined) return 'not run';
      return result.failure === undefined ? 'ok' : 'fails';
    });
    const done = first.done.filter((step) => row.every((result) => result.done.includes(step)));
    const { client, server } = first.cell;
    rows.push([client.title, server.title, ...verdicts, done.join(', ')]);
  }
  const titles = ways.map(({ path, scheme }) => `${scheme}, ${path}`);
  return format(['Client', 'Server', ...titles, 'Done in every cell'], rows);
}

function isSameRow(one: Cell, other: Cell): boolean {
  return one.client === other.client && one.server === other.server;
}

function lacks(clients: ClientKind[]): string {
  const lines = clients.flatMap(({ title, lacks: lacking }) =>
    Object.entries(lacking).map(([step, why]) => `- ${title}, ${step}: the client ${why}.`),
  );
  return lines.length === 0 ? '' : `Left out where the server has it:\n\n${lines.join('\n')}\n`;
}

function versionOf(packageName: string): string {
  const file = assetPath(`node_modules/${packageName}/package.json`);
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
  return version;
}

function distinct<T>(items: T[]): T[] {
  return [...new Set(items)];
}
