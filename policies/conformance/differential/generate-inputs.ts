/**
 * Inputs for the comparison with a stock OPA: the same seed gives the same inputs. Half of them are
 * random calls, the other half target what the policies and their built-ins read. They are JSON
 * texts, since some numbers (1.0, 2e3) exist only as text.
 */
import * as odd from './odd-texts.ts';
import { createRandom, type Random } from './random.ts';

/** A number by its text; everything else is serialised as JSON. */
class NumberText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

const RESOURCES = [
  '/srv/data/report.txt',
  '/srv//data/./keys.pem',
  '/srv/a/../../etc/passwd',
  '\\srv\\data\\x.env',
  '/etc/hosts',
  '/usr/local/etc//nginx.conf',
  'orders',
  'https://example.com/orders/12345678901',
  'ana.maria@example.org',
  'über@straße.example, 4111111111111111',
  '日本語/ファイル',
  '',
];
const NAMES = ['build-agent', 'Build Agent', 'sales_bot 2', 'Ärzte-Helfer', 'x', 'ops--agent'];
const TOOLS = ['read_file', 'write_file', 'deploy', 'query', 'transfer', 'debug', 'legacy_admin'];
const ROLES = ['reader', 'writer', 'operator', 'admin', 'intern'];
const PERMISSIONS = ['files:read', 'files:write', '*:read', '*:*', 'tools:execute', 'deploy:*'];
const VERSIONS = [
  '2.4.0',
  '2.3.9',
  'v2.4.1',
  '2.4.0-rc.1',
  '1.0.0-rc.1',
  '1.0.0-rc.1.1',
  '1.0',
  '01.2.3',
  '1.0.0-alpha+001',
  '1.0.0+20130313144700',
  '1.0.0-0A.is',
  '10.20.30-beta.11',
  'latest',
  '1.0.0-',
  '',
  '9223372036854775808.0.0',
  '1.0.0-alpha..1',
];
const SIZES = [
  '10',
  '1.5MB',
  '10 MB',
  '2GiB',
  '0.5gib',
  '12345678KiB',
  '1e3kb',
  '1e',
  '1E3',
  'kb',
  '-5MB',
  '+7k',
  '1.2.3',
  '"8MiB"',
  '999999999999ti',
  '0.1EB',
  '1tib',
  '.5mb',
  '5.',
  '1e-3MB',
];
const NUMBERS = [
  '0',
  '1',
  '-1',
  '42',
  '1000',
  '9007199254740993',
  '1.0',
  '1.5',
  '-0.5',
  '2e3',
  '1e-7',
  '123456.789',
  '0.1',
  '1e21',
  '65',
  '128512',
  '1114112',
  '-9223372036854775808',
  '1000000',
  '2.50',
  '0.000001234',
  '99.995',
];
const PAYLOADS = ['726d202d7266', '6c73', '68c3a9', '0', 'zz', '', '52 4d', '726D20'];
const LINES = ['one', 'two', 'drop table', '', 'ünï', '"quoted"', 'tab\there'];
const TEXTS = [
  'plain',
  'with "quotes"',
  'back\\slash',
  'line\nbreak',
  '\u0000nul',
  '\u00e9\u200b',
  '😀',
  '\u0007bell',
  '\ufeffbom',
  'a\u0301',
  '%d',
  'a$1',
];

/**
 * Takes a seed and how many inputs to make; returns their JSON texts.
 */
export function generateInputs(seed: number, count: number): string[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, () => toJson(makeInput(random)));
}

function makeInput(random: Random): unknown {
  const calm = random.chance(0.5);
  const action = random.pick(
    calm ? ['read', 'read', 'write'] : ['read', 'write', 'delete', 'execute'],
  );
  const tool = random.pick(calm ? ['read_file', 'query', 'debug'] : TOOLS);
  return {
    agent: {
      id: `agent-${random.integer(1, 9)}`,
      name: random.pick(calm ? ['build-agent', 'x', 'ops-agent'] : NAMES),
      agent_type: 'assistant',
      owner: random.pick(['platform', 'sales', 'ärzte']),
      roles: random.some(calm ? ROLES.slice(0, 3) : ROLES, 3),
      permissions: random.some(PERMISSIONS, 3),
      risk_tier: random.pick(calm ? ['low', 'medium'] : ['low', 'medium', 'high', 'critical']),
      risk_score: new NumberText(`${random.integer(0, calm ? 60 : 100)}.${random.integer(0, 99)}`),
    },
    request: {
      tool_name: tool,
      action,
      resource: random.pick(calm ? RESOURCES.slice(0, 1) : RESOURCES),
      parameters: makeParameters(random, calm),
      mcp_server: random.pick(calm ? ['files', 'web'] : ['files', 'local', 'web', 'unknown', '']),
      method: 'tools/call',
    },
    requester: { id: random.pick([null, 'user-1']), verified: random.chance(0.5) },
    workflow: null,
    delegation: random.chance(calm ? 0 : 0.2) ? { tools: random.some([tool, 'read_*'], 2) } : null,
    dlp: {
      findings_count: random.integer(0, 3),
      max_severity: random.pick(calm ? [null, 'low'] : [null, 'low', 'medium', 'high', 'critical']),
      patterns: random.some(['email', 'iban', 'credit_card'], 2),
    },
    context: {
      time: calm ? calmTime(random) : anyTime(random),
      data_plane: 'plane-1',
      region: random.pick([null, 'eu', 'us', 'in']),
      model: null,
      agent_role: null,
    },
  };
}

function makeParameters(random: Random, calm: boolean): Record<string, unknown> {
  const parameters: Record<string, unknown> = {};
  const add = (probability: number, name: string, make: () => unknown) => {
    if (random.chance(calm ? probability / 4 : probability)) parameters[name] = make();
  };
  add(0.3, 'amount', () => new NumberText(random.pick(NUMBERS)));
  add(0.3, 'size', () => random.pick(SIZES));
  add(0.3, 'version', () => random.pick(VERSIONS));
  add(0.3, 'payload', () => random.pick(PAYLOADS));
  add(0.3, 'lines', () => random.some(LINES, 4));
  add(0.2, 'expires_at', () => anyTime(random));
  add(0.2, 'host', () => odd.networkOrAddress(random));
  add(0.2, 'text', () => random.pick([odd.json, odd.base64])(random));
  add(0.3, 'environment', () => random.pick(['staging', 'production']));
  add(0.3, 'flags', () => random.some(['check', 'force', 'quiet'], 3));
  add(0.2, 'currency', () => random.pick(['EUR', 'USD']));
  add(0.2, 'approval', () => ({ level: random.integer(1, 3), by: random.pick(NAMES) }));
  add(0.3, random.pick(TEXTS), () => [
    random.pick(TEXTS),
    { [random.pick(TEXTS)]: random.pick([true, null, new NumberText(random.pick(NUMBERS))]) },
  ]);
  return parameters;
}

/** A working day, in the middle of the day in each region that counts. */
function calmTime(random: Random): string {
  const day = random.pick(['2025-03-10', '2025-05-13', '2024-10-16', '2026-02-12']);
  return `${day}T${random.pick(['14:15:16.000', '14:59:59.999'])}Z`;
}

function anyTime(random: Random): string {
  const two = (n: number) => String(n).padStart(2, '0');
  const year = random.pick([1969, 1999, 2000, 2023, 2024, 2025, 2026, 2100, 1600, 2300]);
  // Some of these days and hours do not exist.
  const date = `${year}-${two(random.integer(1, 12))}-${two(random.integer(1, 31))}`;
  const time = `${two(random.integer(0, 24))}:${two(random.integer(0, 59))}:${two(random.integer(0, 60))}`;
  const fraction = random.pick(['', '.5', '.123', '.123456789', '.1234567891', ',25']);
  return `${date}T${time}${fraction}${random.pick(['Z', 'Z', '+02:00', '-05:30', '+24:60', 'z', ''])}`;
}

function toJson(value: unknown): string {
  if (value instanceof NumberText) return value.text;
  if (Array.isArray(value)) return `[${value.map(toJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([key, item]) => `${JSON.stringify(key)}:${toJson(item)}`,
  );
  return `{${members.join(',')}}`;
}
