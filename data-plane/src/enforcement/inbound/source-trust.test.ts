import type { BundleSettings } from '@governance/shared/bundle-format';
import { uuidv7 } from '@governance/shared/ids';
import { DEFAULT_INBOUND_ACTIONS, type SourceRule } from '@governance/shared/inbound-settings';
import { describe, expect, it } from 'vitest';
import { requestedUris } from './requested-uris.ts';
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
  findTrust(settingsOf(rules), { serverId, uris }, NOW).type;

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

  it('that cannot be compared within bounds is untrusted', () => {
    const rules = Array.from({ length: 500 }, (): Rule => [`${'*a'.repeat(16)}b`, 'trust']);
    expect(trust(rules, 'web', [`https://a.example/${'a'.repeat(2_000)}`])).toBe('untrusted');
  });
});

describe('the URIs of a call', () => {
  it('are those of a read, and every argument of a tool that is one', () => {
    expect(requestedUris({ method: 'resources/read', args: { uri: 'doc:1' } })).toEqual(['doc:1']);
    const args = { url: 'https://a.example', n: 1, more: { list: ['s3://b/c', 'no uri'] } };
    const found = requestedUris({ method: 'tools/call', args });
    expect(found).toEqual(['https://a.example', 's3://b/c']);
    expect(requestedUris({ method: 'prompts/get', args: { name: 'x' } })).toEqual([]);
  });

  it('are bounded', () => {
    const list = Array.from({ length: 5_000 }, (_, i) => `https://a.example/${i}`);
    expect(requestedUris({ method: 'tools/call', args: { list } })).toHaveLength(16);
    const nested = JSON.parse(`${'{"a":'.repeat(100)}"x"${'}'.repeat(100)}`);
    expect(requestedUris({ method: 'tools/call', args: nested })).toEqual([]);
  });
});
