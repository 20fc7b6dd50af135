import { describe, expect, it } from 'vitest';
import { readingsOfCall } from './call-targets.ts';

const of = (args: Record<string, unknown>) =>
  readingsOfCall({ method: 'tools/call', name: 'x', args });

describe('the targets of a call', () => {
  it.each<[Record<string, unknown>, string[]]>([
    [{ path: '/a' }, ['/a']],
    [{ source: '/a', destination: '/b' }, ['/a', '/b']],
    [{ paths: ['/a', '/b'] }, ['/a', '/b']],
    [{ newPath: 'a' }, ['a']],
    [{ outfile: 'a' }, ['a']],
    [{ BASE_URL: 'https://x.org' }, ['https://x.org/']],
    [{ options: { deep: [{ target_file: 'a' }] } }, ['a']],
    [{ files: [{ path: '/a', encoding: 'utf8', content: '/b' }] }, ['/a']],
    [{ recipient: { value: 'somebody' } }, ['somebody']],
    [{ files: { '/etc/hosts': 'text' } }, ['/etc/hosts', 'text']],
    [{ recipient: { value: 'somebody', id: 'b' } }, ['somebody', 'b']],
    [{ recipient: { id: 'b', is: { value: { of: ['a'] } } } }, ['b', 'a']],
    [{ recipient: { is: { of: ['a', { at: 'c', content: 'd' }] } } }, ['a', 'c']],
    [{ path: '/a', name: 'b' }, ['/a', 'b']],
    [{ table: 'a', sql: 'select 1' }, ['a', 'select 1']],
    [{ repo: 'a', project: 7, groups: [8] }, ['a', '7', '8']],
    [{ path: '/a', from: 3, path_depth: 2 }, ['/a']],
    [{ whatever: 'a\\..\\..\\b', path: '../' }, []],
    [{ to: ['a@x.org', 'b@x.org'] }, ['a@x.org', 'b@x.org']],
    [{ table: 'users', limit: 3, page: 2 }, ['users']],
    [{ channel_id: 17 }, ['17']],
    [{ whatever: '/etc/hosts' }, ['/etc/hosts']],
    [{ whatever: '../hosts' }, []],
    [{ argument: 'a@x.org' }, ['a@x.org']],
    [{ whatever: '%2Fetc' }, ['%2Fetc', '/etc']],
    [{ whatever: 'file%3A///etc' }, ['file%3A/etc', '/etc']],
    [{ whatever: '"/etc"' }, ['"/etc"']],
    [{ whatever: 'a%40x.org' }, ['a%40x.org', 'a@x.org']],
    [{ whatever: 'https: a secure protocol, 100% of it' }, []],
    [{ content: '/etc/hosts', text: 'a@x.org' }, []],
    [{ message: 'hello', flag: true, n: 1 }, []],
  ])('%j', (args, expected) => {
    const found = of(args);
    // One that leads upwards from nowhere cannot be read.
    expect(found).toEqual(JSON.stringify(args).includes('../') ? null : expected);
  });

  it.each([
    { whatever: 'https:evil.example/x' },
    { paths: '/srv/a,/etc/passwd' },
    { command: '/srv/bin/ls; cat /etc/passwd' },
    { whatever: `%${'25'.repeat(20)}2Fetc` },
  ])('are not known where a text can be read in ways that no scope sees: %j', (args) => {
    expect(of(args)).toBeNull();
  });

  it('are not known where they are too many', () => {
    expect(of({ paths: Array.from({ length: 1001 }, (_, i) => `/a/${i}`) })).toBeNull();
    expect(
      of({ paths: Array.from({ length: 20 }, (_, i) => `/${i}${'a'.repeat(4000)}`) }),
    ).toBeNull();
  });

  it('are those of a read, and of what a client gives along', () => {
    const args = { uri: 'demo://A/b' };
    expect(readingsOfCall({ method: 'resources/read', name: 'mcp:resources/read', args })).toEqual([
      'demo://a/b',
    ]);
    const retry = { inputResponses: { one: { content: { path: '/etc' } } } };
    const call = { method: 'tools/call', name: 'x', args: { path: '/a' }, retry };
    expect(readingsOfCall(call)).toEqual(['/a', '/etc']);
  });
});
