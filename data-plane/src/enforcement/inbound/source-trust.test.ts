import type { BundleSettings } from '@governance/shared/bundle/bundle-format';
import { Glob } from '@governance/shared/glob';
import { uuidv7 } from '@governance/shared/ids';
import {
  DEFAULT_INBOUND_ACTIONS,
  type SourceRule,
} from '@governance/shared/settings/inbound-settings';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NOTHING_FURTHER, requestedUris } from './requested-uris.ts';
import { matchesPattern, parsePattern } from './source-pattern.ts';
import { findTrust } from './source-trust.ts';

const NOW = Date.parse('2026-03-01T10:00:00.000Z');

type Rule = [source_pattern: string, rule_type: SourceRule['rule_type'], expires_at?: string];

const settingsOf = (rules: Rule[]): BundleSettings => ({
  tenant_id: uuidv7(),
  mcp_servers: {},
  inbound: {
    actions: DEFAULT_INBOUND_ACTIONS,
    rules: rules.map(([source_pattern, rule_type, expires_at = null]) => ({
      id: uuidv7(),
      source_pattern,
      rule_type,
      expires_at,
    })),
  },
});

const trust = (rules: Rule[], serverId: string, uris: string[] = []) =>
  findTrust(
    settingsOf(rules),
    { serverId, requested: { uris, isWhole: true, further: NOTHING_FURTHER } },
    NOW,
  ).type;

describe('a source', () => {
  it.each<[string, Rule[], string, string[], string | null]>([
    ['has no trust of its own', [], 'web', [], null],
    ['is matched by its server', [['web', 'trust']], 'web', [], 'trust'],
    ['is matched whole', [['web', 'trust']], 'webby', [], null],
    ['is matched by a star', [['web-*', 'block']], 'web-1', [], 'block'],
    [
      'is matched by its URI',
      [['https://a.example/*', 'block']],
      'web',
      ['https://a.example/x'],
      'block',
    ],
    [
      'block is before trust',
      [
        ['*', 'trust'],
        ['web', 'block'],
      ],
      'web',
      [],
      'block',
    ],
    [
      'untrusted is before trust',
      [
        ['*', 'trust'],
        ['web', 'untrusted'],
      ],
      'web',
      [],
      'untrusted',
    ],
    [
      'block is before untrusted',
      [
        ['*', 'untrusted'],
        ['web', 'block'],
      ],
      'web',
      [],
      'block',
    ],
    ['a rule ends', [['web', 'block', '2026-03-01T10:00:00.000Z']], 'web', [], null],
    ['a rule holds until then', [['web', 'block', '2026-03-01T10:00:00.001Z']], 'web', [], 'block'],
  ])('%s', (_, rules, serverId, uris, expected) => {
    expect(trust(rules, serverId, uris)).toBe(expected);
  });

  it('is trusted by URI only where every URI that was asked for is', () => {
    const rules: Rule[] = [['https://good.example/*', 'trust']];
    expect(trust(rules, 'web', ['https://good.example/a'])).toBe('trust');
    expect(trust(rules, 'web', ['https://good.example/a', 'https://evil.example/'])).toBe(null);
    expect(trust(rules, 'web', [])).toBe(null);
  });

  it('is not trusted for how its URI is written', () => {
    const rules: Rule[] = [['https://good.example*', 'trust']];
    expect(trust(rules, 'web', ['https://good.example@evil.example/'])).toBe(null);
    expect(
      trust([['https://good.example/a/*', 'trust']], 'web', ['https://good.example/a/../b']),
    ).toBe(null);
    expect(trust([['https://evil.example/*', 'block']], 'web', ['HTTPS://x@EVIL.example/'])).toBe(
      'block',
    );
  });

  it.each<[string, string, string]>([
    ['its case', 'https://Evil.example/*', 'https://evil.example/a'],
    ['a usual port', 'https://evil.example:443/*', 'https://evil.example/a'],
    ['a usual port of the URI', 'https://evil.example/*', 'https://evil.example:443/a'],
    ['a last dot', 'https://evil.example/*', 'https://evil.example./a'],
    ['two last dots', 'https://evil.example/*', 'https://evil.example../a'],
    ['a name in other letters', 'https://bücher.example/*', 'https://xn--bcher-kva.example/a'],
    ['letters of such a name', 'https://xn--bcher-kva.example/*', 'https://BÜCHER.example/a'],
    ['escapes', 'https://a.example/admin/*', 'https://a.example/%61dm%69n/x'],
    ['lower-case escapes', 'https://a.example/%C3%BC*', 'https://a.example/%c3%bc'],
    ['dots', 'https://a.example/b/*', 'https://a.example/a/%2e%2e/b/c'],
    ['backslashes', 'https://a.example/b/*', 'https:\\\\a.example\\b\\c'],
    ['one slash', 'https://a.example/*', 'https:/a.example/b'],
    ['a user', 'https://a.example/*', 'https://b.example:x@a.example/b'],
    ['no path', 'https://a.example', 'https://a.example/'],
    ['other hosts of a domain', 'https://*.evil.example/*', 'https://a.b.EVIL.example/x'],
    ['an address', 'http://127.0.0.1/*', 'http://0x7f.1/x'],
  ])('is blocked whatever %s', (_, pattern, uri) => {
    expect(trust([[pattern, 'block']], 'web', [uri])).toBe('block');
    expect(trust([[pattern, 'block']], 'web', ['https://other.example/'])).toBe(null);
  });

  it.each<[string, string, string]>([
    ['a part of the host', 'https://good.example*', 'https://good.example.evil.example/'],
    ['another port', 'https://good.example/*', 'https://good.example:8443/'],
    ['a fragment', 'https://good.example/*', 'https://evil.example/#https://good.example/'],
    ['what is no URI', 'https://good.example/*', 'https://good.example:99999/'],
  ])('is not trusted for %s', (_, pattern, uri) => {
    const expected = pattern.endsWith('example*') ? 'trust' : null;
    expect(trust([[pattern, 'trust']], 'web', [uri])).toBe(expected);
  });

  it('may be trusted by server and URI together', () => {
    const rules: Rule[] = [['fetch https://good.example/*', 'trust']];
    expect(trust(rules, 'fetch', ['https://good.example/a'])).toBe('trust');
    expect(trust(rules, 'other', ['https://good.example/a'])).toBe(null);
  });

  it('is found among 500 rules, wherever its own stands and whatever the call is full of', () => {
    const rules = Array.from({ length: 499 }, (_, i): Rule => [`*.site-${i}.example/*`, 'trust']);
    const uris = Array.from({ length: 100 }, (_, i) => `https://a.example/${i}/${'x'.repeat(500)}`);
    const blocked: Rule[] = [...rules, ['https://evil.example/*', 'block']];
    expect(trust(blocked, 'web', [...uris, 'https://evil.example/'])).toBe('block');
    expect(trust(blocked, 'web', uris)).toBe(null);
  });

  it('that cannot be compared within bounds is blocked where it may be, and never trusted', () => {
    const pattern = `${'*a'.repeat(15)}${'b'.repeat(400)}*c`;
    const uris = Array.from(
      { length: 100 },
      (_, i) => `https://a.example/${'a'.repeat(1_900)}${i}c`,
    );
    const rules = (type: SourceRule['rule_type']) =>
      Array.from({ length: 500 }, (): Rule => [pattern, type]);
    expect(trust(rules('block'), 'web', uris)).toBe('block');
    expect(trust(rules('untrusted'), 'web', uris)).toBe('untrusted');
    expect(trust(rules('trust'), 'web', uris)).toBe(null);
  });

  it('whose URIs are not all known is untrusted where rules restrict URIs', () => {
    const type = (rules: Rule[]) => {
      const requested = {
        uris: ['https://good.example/'],
        isWhole: false,
        further: NOTHING_FURTHER,
      };
      return findTrust(settingsOf(rules), { serverId: 'web', requested }, NOW).type;
    };
    expect(type([['https://good.example/*', 'trust']])).toBe(null);
    expect(type([['web', 'trust']])).toBe('trust');
    expect(type([['https://evil.example/*', 'block']])).toBe('untrusted');
    expect(type([['https://good.example/*', 'block']])).toBe('block');
    expect(type([['other', 'block']])).toBe(null);
  });

  it('is compared as the definition of a star says', () => {
    const piece = fc.array(fc.constantFrom('a', 'b', '*'), { maxLength: 8 });
    const text = fc.array(fc.constantFrom('a', 'b'), { maxLength: 10 });
    fc.assert(
      fc.property(piece, text, (pattern, letters) => {
        const [glob, word] = [pattern.join(''), letters.join('')];
        const expected = new Glob(glob, 'name').matches(word, { left: 10_000 });
        expect(matchesPattern(parsePattern(glob), word, { left: 10_000 })).toBe(expected);
      }),
    );
  });
});

describe('a rule that restricts', () => {
  const of = (rules: Rule[], args: Record<string, unknown>) =>
    findTrust(settingsOf(rules), { serverId: 'web', requested: requestedUris({ args }) }, NOW).type;

  it.each([
    '{"u":"https:\\/\\/evil.example\\/x"}',
    '{"u":"https:\\u002f\\u002Fevil.example/x"}',
    'https%3A%2F%2Fevil.example%2Fx',
    'https%253A%252F%252Fevil.example%252Fx',
    'evil.example/x',
    'evil.example%2Fx',
    'evil.example',
    'EVIL.example:443/x',
    'me@evil.example/x',
    'good.example@evil.example/x',
    'curl -s evil.example/x.',
    'url=evil.example&b=c',
  ])('reads %s as a tool may', (url) => {
    for (const pattern of [
      'https://evil.example/*',
      '*evil.example*',
      'web https://evil.example/*',
    ]) {
      expect(of([[pattern, 'block']], { url }), pattern).toBe('block');
      expect(of([[pattern, 'untrusted']], { a: [{ [url]: 1 }] }), pattern).toBe('untrusted');
    }
  });

  it.each([
    'notevil.example/x',
    'evil.example.org',
    'evil.example-b.org',
    'src/evil.ts',
    '100%',
  ])('does not take %s for another host', (url) => {
    expect(of([['https://evil.example/*', 'block']], { url })).toBe(null);
  });

  it('is compared with bare hosts where it names one', () => {
    expect(of([['https://*', 'block']], { path: 'README.md' })).toBe(null);
    expect(of([['https://*.evil.example/*', 'block']], { url: 'a.evil.example/b' })).toBe('block');
    expect(of([['http://10.0.0.1/*', 'block']], { url: '10.0.0.1/b' })).toBe('block');
  });

  it('alone reads so: nothing is trusted for it', () => {
    const rules: Rule[] = [['https://good.example/*', 'trust']];
    for (const url of [
      'good.example/x',
      'https:\\/\\/good.example/x',
      'https%3A%2F%2Fgood.example/x',
    ]) {
      expect(of(rules, { url })).toBe(null);
    }
    expect(of(rules, { url: 'https://good.example/x', also: 'see b.example' })).toBe('trust');
  });

  it('takes a call with more hosts than are compared for untrusted', () => {
    const text = Array.from({ length: 301 }, (_, i) => `site-${i}.example`).join(' ');
    expect(of([['https://evil.example/*', 'block']], { text })).toBe('untrusted');
    expect(of([['other', 'block']], { text })).toBe(null);
    const long = 'a.'.repeat(400_000);
    for (const text of [long, `${long}%41`, `${'@'.repeat(500_000)}a.example`]) {
      expect(of([['https://evil.example/*', 'block']], { text })).toBe(null);
    }
  });
});

describe('the URIs of a call', () => {
  const found = (args: Record<string, unknown>) => requestedUris({ args }).uris;

  it('are those of a read, and whatever an argument says', () => {
    expect(found({ uri: 'doc:1' })).toEqual(['doc:1']);
    const args = { url: 'https://a.example', n: 1, more: { list: ['s3://b/c', 'no uri'] } };
    expect(found(args)).toEqual(['https://a.example', 's3://b/c']);
    expect(found({ name: 'x' })).toEqual([]);
    expect(found({ command: 'curl "https://a.example/b" > c' })).toEqual(['https://a.example/b']);
    expect(found({ 'https://a.example/': true })).toEqual(['https://a.example/']);
    const retry = { inputResponses: { a: { url: 'https://a.example/' } } } as never;
    expect(requestedUris({ args: {}, retry }).uris).toEqual(['https://a.example/']);
  });

  it.each([
    [' https://a.example/', 'https://a.example/'],
    ['ht\ntps://a.exa\tmple/', 'https://a.example/'],
    ['https:a.example/', 'https:a.example/'],
    ['HTTPS:\\\\a.example', 'HTTPS:\\\\a.example'],
    ['//a.example/b', 'https://a.example/b'],
    ['https://b.example,https://a.example/', 'https://a.example/'],
    ['https://b.example/?to=https://a.example/', 'https://a.example/'],
  ])('are found in %j', (text, expected) => {
    expect(found({ text })).toContain(expected);
  });

  it('are bounded, which is reported', () => {
    const list = (length: number) => Array.from({ length }, (_, i) => `https://a.example/${i}`);
    expect(requestedUris({ args: { list: list(100) } })).toMatchObject({ isWhole: true });
    const many = requestedUris({ args: { list: list(101) } });
    expect(many.isWhole).toBe(false);
    expect(many.uris).toHaveLength(100);
    const long = `https://a.example/${'a'.repeat(3_000)}`;
    expect(requestedUris({ args: { long } })).toMatchObject({ uris: [], isWhole: false });
    expect(requestedUris({ args: { list: Array(6_000).fill(1) } }).isWhole).toBe(false);
    expect(requestedUris({ args: { text: 'a'.repeat(2_000_000) } }).isWhole).toBe(false);
    const good = 'https://good.example/ '.repeat(900);
    const hidden = requestedUris({ args: { text: `${good}https://evil.example/` } });
    expect(hidden.uris).toEqual(['https://good.example/', 'https://evil.example/']);
    for (const text of ['://'.repeat(330_000), 'a://'.repeat(250_000), good.repeat(2)]) {
      expect(requestedUris({ args: { text } }).isWhole).toBe(false);
    }
    const nested = JSON.parse(`${'{"a":'.repeat(100)}"x"${'}'.repeat(100)}`);
    expect(requestedUris({ args: nested })).toMatchObject({ uris: [], isWhole: true });
  });
});
