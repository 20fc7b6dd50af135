/** What a module of Ansible does that is called by itself. */
import { wordSet } from '../word-set.ts';

const WRITES = wordSet(
  'copy template lineinfile blockinfile replace get_url unarchive ini_file assemble file tempfile cron',
);
const RUNS = wordSet('shell command raw script win_shell win_command');
const DATABASES = /^(?:mysql|postgresql|mongodb)_db$/;
const PLACE = /(?:^|\s)(?:path|dest|name)=("[^"]{0,4000}"|'[^']{0,4000}'|[^\s"']{1,4000})/g;
const IS_GONE = /(?:^|\s)state=["']?absent\b/;

const MAX_LENGTH = 64 * 1024;

export interface AnsibleReach {
  readonly lines: readonly string[];
  readonly argvs: readonly (readonly string[])[];
}

/** @param call with a module and its arguments: `path=/srv state=absent`, or by their names */
export function readAnsible(call: Readonly<Record<string, unknown>>): AnsibleReach {
  const { module_name: other, module: name = other, module_args: more, args: given = more } = call;
  if (typeof name !== 'string') return { lines: [], argvs: [] };
  const module = name.slice(name.lastIndexOf('.') + 1);
  const args = asLine(given);
  // It is too long for a command line, too.
  if (args.length > MAX_LENGTH) return { lines: [args], argvs: [] };
  if (RUNS.has(module)) return { lines: [args.replace(/^cmd=/, '')], argvs: [] };
  const isGone = IS_GONE.test(args);
  if (DATABASES.test(module)) return { lines: [], argvs: isGone ? [['dropdb']] : [] };
  if (!WRITES.has(module)) return { lines: [], argvs: [] };
  const places = [...args.matchAll(PLACE)].map(([, place = '']) =>
    place.replace(/^["']|["']$/g, ''),
  );
  const isFolder = module === 'file' && isGone;
  return {
    lines: [],
    argvs: places.map((one) => (isFolder ? ['rm', '-r', '--', one] : ['tee', '--', one])),
  };
}

function asLine(given: unknown): string {
  if (typeof given === 'string') return given;
  if (typeof given !== 'object' || given === null) return '';
  return Object.entries(given)
    .filter(([, value]) => typeof value === 'string')
    .map(([key, value]) => `${key}="${value}"`)
    .join(' ');
}
