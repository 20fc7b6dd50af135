/**
 * The drawn structure: which room is above which, and what nobody may import. A new folder gets a
 * line here, in the place where it belongs (docs/architecture.md, "Folders").
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseSources, readSourceTree } from './support/source-tree.ts';
import { findProblems, type Rooms } from './support/structure.ts';

/** From low to high. */
const ROOMS: Rooms = {
  shared: [
    '',
    'json',
    'time',
    'keys',
    'mcp',
    'process',
    'ledger',
    'outbound',
    'detect',
    'settings',
    'http',
    'service-settings.ts',
    'bundle',
    'evidence',
    'channel',
    'tokens',
  ],
  policies: ['', 'evaluator', 'compiler'],
  verifier: [''],
  'data-plane': [
    'contracts.ts',
    'storage',
    'alerts',
    'payloads',
    'ledger',
    'identity',
    'replica',
    'holds',
    'upstream',
    'upstream/addresses',
    'upstream/lists',
    'upstream/shares',
    'upstream/http',
    'upstream/stdio',
    'upstream/health',
    'upstream/modern',
    'upstream/sessions',
    'sync/link',
    'sync/feed',
    'sync/bundle',
    'sync/shipping',
    'sync/watch',
    'sync',
    'core',
    'registration',
    'opa-server',
    'enforcement/tokens',
    'enforcement/call',
    'enforcement/alerts',
    'enforcement/permission',
    'enforcement/turns',
    'enforcement/tools',
    'enforcement/record',
    'enforcement/dlp',
    'enforcement/inbound',
    'enforcement/pins',
    'enforcement/payloads',
    'enforcement/holds',
    'enforcement/scan-thread',
    'enforcement/steps',
    // The way of a call, which lists the steps and runs them.
    'enforcement/inspection.ts',
    'enforcement/pipeline.ts',
    'enforcement/inspected-stream.ts',
    'enforcement/unprompted.ts',
    'enforcement/decision-parts.ts',
    'enforcement/forward.ts',
    'enforcement/enforcer.ts',
    'gateway',
    'gateway/legacy',
    'gateway/modern',
    'gateway/routes.ts',
    'models',
    'settings.ts',
    'config.ts',
    'metrics.ts',
    'workers',
    'plane',
    'local-control',
    'local-api',
    'data-plane.ts',
    'main.ts',
    'supervisor',
  ],
  'control-plane': [
    'platform',
    'platform/postgres',
    'platform/database',
    'platform/replicas',
    'platform/keys',
    'platform/feature.ts',
    'platform/feature-list.ts',
    'platform/http',
    'key-management',
    'master-key',
    'config.ts',
    'auth',
    'alerts',
    'feed',
    'kill-switch',
    'bundles',
    'service-keys',
    'agents',
    'agent-credentials',
    'installers',
    'chain',
    'payloads',
    'tenants',
    'administrators',
    'audit',
    'ingest',
    'policies',
    'exceptions',
    'replays',
    'data-planes',
    'mcp-servers',
    'inbound',
    'dlp',
    'roles',
    'data-protection',
    'blast-radius',
    'rate-limits',
    'escalations',
    'enrollment',
    'workflows',
    'delegations',
    'sessions',
    'evidence',
    'restores',
    'dispositions',
    'commands.ts',
    'core.ts',
    'app.ts',
    'main.ts',
  ],
};

/** What is still wrong and known. None may be added; one that is mended fails until it is gone here. */
const KNOWN: readonly string[] = [];

const root = fileURLToPath(new URL('..', import.meta.url));

it('is as it is drawn', () => {
  expect(findProblems(readSourceTree(root), ROOMS).sort()).toEqual([...KNOWN].sort());
});

it('docs/architecture.md lists the folders of the data plane in this order', () => {
  const page = readFileSync(new URL('../docs/architecture.md', import.meta.url), 'utf8');
  const [, table = ''] = /\nBelow `data-plane\/src\/`:\n\n([\s\S]*?)\n\n/.exec(page) ?? [];
  const cells = table.split('\n').map((row) => row.split('|')[1] ?? '');
  const listed = cells.flatMap((cell) => cell.match(/(?<=`)[\w.-]+(?=\/?`)/g) ?? []);
  const drawn = (ROOMS['data-plane'] ?? []).map((room) => room.split('/')[0]);
  expect(listed).toEqual([...new Set(drawn)]);
});

describe('what is planted is found', () => {
  const rooms: Rooms = {
    shared: [''],
    'data-plane': ['low', 'high', 'high/inner'],
    'control-plane': [''],
  };
  const problemsOf = (sources: Record<string, string>) =>
    findProblems(parseSources(new Map(Object.entries(sources))), rooms);

  it('nothing where all arrows go down', () => {
    const sources = {
      'shared/src/a.ts': '',
      'data-plane/src/low/a.ts': "import { a } from '@governance/shared/a';\n",
      'data-plane/src/high/b.ts': "import {\n  a,\n  b,\n} from '../low/a.ts';\n",
      'data-plane/src/high/b.test.ts': "import { b } from './b.ts';\n",
      'service.ts': "import '@governance/data-plane/high/b';\nimport '@governance/shared/a';\n",
    };
    expect(problemsOf(sources)).toEqual([]);
  });

  it.each([
    ['import', "import { b } from '../high/b.ts';\n"],
    ['import of a type', "import type { B } from '../high/b.ts';\n"],
    ['export', "export * from '../high/b.ts';\n"],
    ['import of several lines', "import {\n  b,\n  type C,\n} from '../high/b.ts';\n"],
    ['call of import()', "  const { b } = await import('../high/b.ts');\n"],
    ['import for its effect', "import '../high/b.ts';\n"],
  ])('an arrow upwards, by an %s', (_what, text) => {
    const sources = { 'data-plane/src/low/a.ts': text, 'data-plane/src/high/b.ts': '' };
    expect(problemsOf(sources)).toEqual([
      'upwards: data-plane/src/low/a.ts -> data-plane/src/high/b.ts',
    ]);
  });

  it('a room within a room that its own house imports', () => {
    const sources = {
      'data-plane/src/high/a.ts': "import { b } from './inner/b.ts';\n",
      'data-plane/src/high/inner/b.ts': '',
    };
    expect(problemsOf(sources)).toEqual([
      'upwards: data-plane/src/high/a.ts -> data-plane/src/high/inner/b.ts',
    ]);
  });

  it('a file that nobody drew', () => {
    const sources = {
      'data-plane/src/new/a.ts': "import { b } from '../low/b.ts';\n",
      'data-plane/src/low/b.ts': '',
    };
    expect(problemsOf(sources)).toEqual(['in no room: data-plane/src/new/a.ts']);
  });

  it('a circle of files, of types alone too', () => {
    const sources = {
      'shared/src/a.ts': "import type { B } from './b.ts';\n",
      'shared/src/b.ts': "import type { C } from './c.ts';\n",
      'shared/src/c.ts': "import type { A } from './a.ts';\n",
    };
    expect(problemsOf(sources)).toEqual([
      'circle: shared/src/a.ts -> shared/src/b.ts -> shared/src/c.ts -> shared/src/a.ts',
    ]);
  });

  it('folders in a circle, though no two files are', () => {
    const sources = {
      'shared/src/one/a.ts': "import { b } from '../two/b.ts';\n",
      'shared/src/two/b.ts': '',
      'shared/src/two/c.ts': "import { d } from '../one/inner/d.ts';\n",
      'shared/src/one/inner/d.ts': '',
    };
    expect(problemsOf(sources)).toEqual([
      'folders in a circle: shared/src/one -> shared/src/two -> shared/src/one',
    ]);
  });

  it('a plane that sees the other', () => {
    const sources = {
      'data-plane/src/high/a.ts': "import { b } from '@governance/control-plane/b';\n",
      'control-plane/src/b.ts': '',
    };
    expect(problemsOf(sources)).toEqual([
      'not for data-plane: data-plane/src/high/a.ts -> control-plane/src/b.ts',
    ]);
  });

  it('a file of more than 400 lines', () => {
    expect(problemsOf({ 'shared/src/a.ts': '\n'.repeat(401) })).toEqual([
      'over 400 lines: shared/src/a.ts',
    ]);
    expect(problemsOf({ 'shared/src/a.ts': '\n'.repeat(400) })).toEqual([]);
  });

  it('a folder of more than 40 files, tests not counted', () => {
    const sources = (count: number) =>
      Object.fromEntries([
        ...Array.from({ length: count }, (_, n) => [`shared/src/many/f${n}.ts`, '']),
        ['shared/src/many/f.test.ts', ''],
      ]);
    expect(problemsOf(sources(41))).toEqual(['over 40 files: shared/src/many']);
    expect(problemsOf(sources(40))).toEqual([]);
  });

  it('a test helper in production, and one placed among production files', () => {
    const sources = {
      'shared/src/a.ts': "import { aRecord } from './testing/records.ts';\n",
      'shared/src/testing/records.ts': '',
      'shared/src/test-b.ts': '',
      'shared/src/b.test.ts': "import { b } from './test-b.ts';\n",
    };
    expect(problemsOf(sources)).toEqual([
      "a test's file in production: shared/src/a.ts -> shared/src/testing/records.ts",
      'for tests alone: shared/src/test-b.ts',
    ]);
  });
});
