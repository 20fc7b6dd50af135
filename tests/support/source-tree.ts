/** The project's own sources and their imports, read as text. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path/posix';

export interface Import {
  from: string;
  to: string;
}

export interface SourceTree {
  /** Number of lines by path, which is relative to the root of the project. */
  lines: ReadonlyMap<string, number>;
  /** Between files of the tree; type imports count too. */
  imports: readonly Import[];
}

const FOLDERS = [
  'shared',
  'policies',
  'verifier',
  'control-plane',
  'data-plane',
  'tests',
  'bench',
  'scripts',
];
const SKIPPED = new Set(['node_modules', 'generated', 'dist', 'artifact']);

/** Statements begin a line, as Biome formats them; `import()` may be anywhere. */
const STATEMENT = /^(?:import|export)\s(?:[^'";]*?\sfrom\s)?'([^']+)'/gm;
const CALL = /\bimport\(\s*'([^']+)'\s*\)/g;

/** Reads the sources below a folder. */
export function readSourceTree(root: string): SourceTree {
  const paths = FOLDERS.flatMap((folder) => listSources(root, folder));
  return parseSources(
    new Map([...paths, 'service.ts'].map((path) => [path, readFileSync(join(root, path), 'utf8')])),
  );
}

/** @param texts by path */
export function parseSources(texts: ReadonlyMap<string, string>): SourceTree {
  const imports: Import[] = [];
  for (const [from, text] of texts) {
    for (const [, specifier = ''] of [...text.matchAll(STATEMENT), ...text.matchAll(CALL)]) {
      const to = resolve(from, specifier);
      if (to !== undefined && texts.has(to)) imports.push({ from, to });
    }
  }
  const lines = [...texts].map(([path, text]): [string, number] => [path, countLines(text)]);
  return { lines: new Map(lines), imports };
}

function resolve(from: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return normalize(join(dirname(from), specifier));
  const [, name, path] = /^@governance\/([^/]+)\/(.+)$/.exec(specifier) ?? [];
  return name && `${name}/src/${path}.ts`;
}

function countLines(text: string): number {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
}

function listSources(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : listSources(root, path);
    return path.endsWith('.ts') ? [path] : [];
  });
}
