/**
 * Policies as files. A policy is a `.rego` file; everything besides its source is in the METADATA
 * of its package (Rego's annotations): `title` is its name, `description` its description,
 * `custom.status` its status. `<name>_test.rego` beside it are its tests.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';

export interface FilePolicy {
  /** For the compiler alone. */
  id: string;
  /** From the folder. */
  path: string;
  name: string;
  description: string;
  status: 'draft' | 'active' | 'archived';
  rego: string;
  /** The source of its tests. */
  tests: string | undefined;
}

/** A problem that a person must fix before anything is done. */
export class UsageError extends Error {}

const TEST_ENDING = '_test.rego';
const STATUSES = ['draft', 'active', 'archived'] as const;

/**
 * @throws UsageError for a folder that cannot be read, or files that are not a valid set of
 * policies
 */
export function readPolicyFolder(folder: string): FilePolicy[] {
  const paths = listRego(folder);
  const isTest = (path: string) => path.endsWith(TEST_ENDING);
  const read = (path: string) => readFileSync(join(folder, path), 'utf8');
  const tests = new Map(paths.filter(isTest).map((path) => [policyOf(path), read(path)]));
  const policies = paths
    .filter((path) => !isTest(path))
    .map((path, n) => ({ id: `file-${n}`, ...describe(path, read(path)), tests: tests.get(path) }));
  for (const path of tests.keys()) {
    if (!policies.some((policy) => policy.path === path)) {
      throw new UsageError(
        `${path.replace(/\.rego$/, TEST_ENDING)}: there is no ${path} beside it`,
      );
    }
  }
  requireDistinctNames(policies);
  return policies;
}

function listRego(folder: string): string[] {
  try {
    if (!statSync(folder).isDirectory()) throw new UsageError(`${folder} is not a folder`);
    return readdirSync(folder, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.rego'))
      .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
      .filter((path) => !/(^|[\\/])(\.|node_modules[\\/])/.test(path))
      .sort();
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${folder} cannot be read: ${(error as Error).message}`);
  }
}

function policyOf(testPath: string): string {
  return `${testPath.slice(0, -TEST_ENDING.length)}.rego`;
}

function requireDistinctNames(policies: FilePolicy[]): void {
  const known = new Map<string, string>();
  for (const { name, path, status } of policies) {
    if (status === 'archived') continue;
    const other = known.get(name);
    if (other) throw new UsageError(`${path} and ${other} are both named ${JSON.stringify(name)}`);
    known.set(name, path);
  }
}

function describe(path: string, rego: string): Omit<FilePolicy, 'id' | 'tests'> {
  const { title, description, status } = readMetadata(path, rego);
  const ownName = path.replace(/^.*[\\/]/, '').replace(/\.rego$/, '');
  const known = STATUSES.find((one) => one === (status ?? 'active'));
  if (!known) throw new UsageError(`${path}: custom.status must be one of ${STATUSES.join(', ')}`);
  return { path, rego, name: title ?? ownName, description: description ?? '', status: known };
}

/** The three relevant members of the first METADATA block. */
function readMetadata(path: string, rego: string): Record<string, string | undefined> {
  const lines = rego.split(/\r?\n/);
  const begin = lines.findIndex((line) => line.trim() === '# METADATA');
  const found: Record<string, string | undefined> = {};
  if (begin < 0) return found;
  const end = lines.findIndex((line, n) => n > begin && !line.startsWith('#'));
  const block = lines.slice(begin + 1, end < 0 ? lines.length : end).map((line) => line.slice(2));
  let parent = '';
  for (const [n, line] of block.entries()) {
    const [, indent = '', key = '', value = ''] = /^( *)([\w-]+):(.*)$/.exec(line) ?? [];
    if (key === '') continue;
    if (indent === '') parent = key;
    const isOwn = indent === '' && (key === 'title' || key === 'description');
    if (!isOwn && !(indent !== '' && parent === 'custom' && key === 'status')) continue;
    const rest = indentedAfter(block, n, indent.length);
    found[key] = scalar(`${path}: ${key}`, value.trim(), rest);
  }
  return found;
}

/** The continuation lines of a member's value. */
function indentedAfter(block: string[], at: number, indent: number): string[] {
  const rest = block.slice(at + 1);
  const end = rest.findIndex((line) => line.trim() !== '' && line.search(/\S/) <= indent);
  return (end < 0 ? rest : rest.slice(0, end)).map((line) => line.trim());
}

/** YAML's plain and quoted scalars, and its block scalars: `|` keeps lines, `>` joins them. */
function scalar(where: string, value: string, rest: string[]): string {
  if (/^\|[+-]?$/.test(value)) return rest.join('\n').trim();
  const first = /^>[+-]?$/.test(value) ? '' : value;
  return plain(where, [first, ...rest].join(' ').trim());
}

/** In quotes or without. */
function plain(where: string, value: string): string {
  const quote = value.charAt(0);
  if (quote !== '"' && quote !== "'") return value;
  if (value.length < 2 || !value.endsWith(quote))
    throw new UsageError(`${where}: an unclosed quote`);
  const inner = value.slice(1, -1);
  return quote === "'" ? inner.replaceAll("''", "'") : inner.replace(/\\(["\\])/g, '$1');
}
