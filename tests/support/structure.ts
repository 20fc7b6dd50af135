/** Finds violations of the sources' structure, as sentences; none if all is well. */
import type { Import, SourceTree } from './source-tree.ts';

/**
 * A package's rooms (folders and files below `src`), each above those that it may import from. A
 * file belongs to the room with the longest matching name; `''` takes the rest.
 */
export type Rooms = Record<string, readonly string[]>;

const MOST_LINES = 400;
/** Of production files in one folder: more is a list that nobody reads. */
const MOST_FILES = 40;
/** Which packages a package may import from. */
const ARROWS: Record<string, readonly string[]> = {
  shared: [],
  policies: ['shared'],
  verifier: ['shared'],
  'control-plane': ['shared', 'policies'],
  'data-plane': ['shared', 'policies'],
};
/** The one file that may see both planes. */
const ENTRY = 'service.ts';

export const isTestFile = (path: string): boolean => /\.test\.ts$|\/testing\/|^tests\//.test(path);
const packageOf = (path: string): string | undefined => {
  const [name = ''] = path.split('/');
  return Object.hasOwn(ARROWS, name) && path.startsWith(`${name}/src/`) ? name : undefined;
};
const isProduction = (path: string): boolean =>
  !isTestFile(path) && (packageOf(path) !== undefined || path === ENTRY);

export function findProblems(tree: SourceTree, rooms: Rooms): string[] {
  const arrows = tree.imports.filter(({ from }) => isProduction(from));
  return [
    ...findCircles(arrows),
    ...findFolderCircles(arrows),
    ...findArrowsUp(arrows, rooms),
    ...findForeignImports(arrows),
    ...findLongFiles(tree),
    ...findFullFolders(tree),
    ...findTestImports(arrows),
    ...findStrayHelpers(tree),
  ];
}

/**
 * Import cycles of files. Type imports count: such a cycle runs, but neither file can be read,
 * moved or tested without the other.
 */
function findCircles(arrows: readonly Import[]): string[] {
  const targets = new Map<string, string[]>();
  for (const { from, to } of arrows) targets.set(from, [...(targets.get(from) ?? []), to]);
  const done = new Set<string>();
  const problems: string[] = [];

  function visit(path: string, trail: readonly string[]): void {
    const at = trail.indexOf(path);
    if (at >= 0) problems.push(`circle: ${[...trail.slice(at), path].join(' -> ')}`);
    if (at >= 0 || done.has(path)) return;
    for (const next of targets.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  }
  for (const path of targets.keys()) visit(path, []);
  return problems;
}

/**
 * Import cycles between the entries of a package's `src`. Two folders that need each other are
 * really one.
 */
function findFolderCircles(arrows: readonly Import[]): string[] {
  const between = arrows.flatMap(({ from, to }) => {
    const ends = { from: folderOf(from), to: folderOf(to) };
    return packageOf(from) === packageOf(to) && ends.from !== ends.to ? [ends] : [];
  });
  // One of files alone is told as such.
  const isOfFolders = (circle: string) => !circle.split(' -> ').every((end) => end.endsWith('.ts'));
  return findCircles(between)
    .filter(isOfFolders)
    .map((circle) => circle.replace('circle', 'folders in a circle'));
}

const folderOf = (path: string): string => path.split('/').slice(0, 3).join('/');

function findArrowsUp(arrows: readonly Import[], rooms: Rooms): string[] {
  const problems = new Set<string>();
  for (const { from, to } of arrows) {
    const name = packageOf(from);
    if (name === undefined || packageOf(to) !== name || isTestFile(to)) continue;
    const order = rooms[name] ?? [];
    const [lower, upper] = [roomOf(from, name, order), roomOf(to, name, order)];
    if (lower === undefined) problems.add(`in no room: ${from}`);
    else if (upper !== undefined && order.indexOf(lower) < order.indexOf(upper)) {
      problems.add(`upwards: ${from} -> ${to}`);
    }
  }
  return [...problems];
}

function roomOf(path: string, name: string, order: readonly string[]): string | undefined {
  const inner = path.slice(`${name}/src/`.length);
  const fits = order.filter(
    (room) => room === '' || room === inner || inner.startsWith(`${room}/`),
  );
  return fits.sort((a, b) => b.length - a.length)[0];
}

function findForeignImports(arrows: readonly Import[]): string[] {
  return arrows.flatMap(({ from, to }) => {
    const [own, other] = [packageOf(from), packageOf(to)];
    if (own === undefined || other === own) return [];
    if (other !== undefined && ARROWS[own]?.includes(other)) return [];
    return [`not for ${own}: ${from} -> ${to}`];
  });
}

function findLongFiles({ lines }: SourceTree): string[] {
  return [...lines].flatMap(([path, count]) =>
    isProduction(path) && count > MOST_LINES ? [`over ${MOST_LINES} lines: ${path}`] : [],
  );
}

function findFullFolders({ lines }: SourceTree): string[] {
  const counts = new Map<string, number>();
  for (const path of [...lines.keys()].filter(isProduction)) {
    const folder = path.slice(0, path.lastIndexOf('/'));
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts].flatMap(([folder, count]) =>
    count > MOST_FILES ? [`over ${MOST_FILES} files: ${folder}`] : [],
  );
}

function findTestImports(arrows: readonly Import[]): string[] {
  return arrows.flatMap(({ from, to }) =>
    isTestFile(to) ? [`a test's file in production: ${from} -> ${to}`] : [],
  );
}

/** A file that only tests import is a test helper and belongs in `testing/` or tests/support. */
function findStrayHelpers({ imports }: SourceTree): string[] {
  const importers = new Map<string, string[]>();
  for (const { from, to } of imports) importers.set(to, [...(importers.get(to) ?? []), from]);
  return [...importers].flatMap(([path, from]) =>
    isProduction(path) && path !== ENTRY && from.every(isTestFile)
      ? [`for tests alone: ${path}`]
      : [],
  );
}
