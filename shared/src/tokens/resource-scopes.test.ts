import { describe, expect, it } from 'vitest';
import { readTarget } from '../mcp/target-readings.ts';
import { coverReach, coverServer, findScopeFault, parseResourceScopes } from './resource-scopes.ts';

const effort = () => ({ left: 1_000_000 });

function covers(scopes: string[], resource: string, ...targets: string[]): boolean {
  const parsed = parseResourceScopes(scopes);
  if (parsed === null) return true;
  if (parsed === 'none') return false;
  const readings = targets.map(readTarget);
  const all = readings.includes(null) ? null : (readings.flat() as string[]);
  return coverReach(parsed, { resource, targets: all }, effort());
}

describe('resource_scopes', () => {
  it.each([[[]], [['*']], [['tool:*']], [['tool:**', '*']]])('%j narrow nothing', (scopes) => {
    expect(parseResourceScopes(scopes)).toBeNull();
  });

  it('match tools as server/tool, with a kind and without', () => {
    for (const entry of ['tool:files/read_*', 'files/read_*']) {
      expect(covers([entry], 'files/read_file')).toBe(true);
      expect(covers([entry], 'files/write_file')).toBe(false);
      expect(covers([entry], 'mail/read_file')).toBe(false);
    }
    expect(covers(['files/*'], 'files/mcp:resources/read')).toBe(true);
    expect(covers(['files'], 'files/read_file')).toBe(false);
    expect(covers(['read_file'], 'files/read_file')).toBe(false);
  });

  it('take any within a kind, and all across the kinds', () => {
    const scopes = ['tool:files/*', 'tool:disk/*', 'target:/srv/**', 'target:/tmp/*'];
    expect(covers(scopes, 'disk/read', '/tmp/a')).toBe(true);
    expect(covers(scopes, 'disk/read', '/tmp/a', '/srv/b/c')).toBe(true);
    expect(covers(scopes, 'disk/read', '/tmp/a/b')).toBe(false);
    expect(covers(scopes, 'mail/read', '/tmp/a')).toBe(false);
    expect(covers(['*', 'target:/tmp/*'], 'mail/read', '/etc/a')).toBe(false);
  });

  it('need every target to match, and one at least', () => {
    const scopes = ['target:/srv/**'];
    expect(covers(scopes, 'files/move')).toBe(false);
    expect(covers(scopes, 'files/move', '/srv/a', '/etc/b')).toBe(false);
    expect(covers(scopes, 'files/list', '/srv')).toBe(true);
    expect(covers(scopes, 'files/list', '/srv/')).toBe(true);
    expect(covers(scopes, 'files/list', '/srvx')).toBe(false);
  });

  it.each([
    '',
    'tool:',
    'target:',
    'tagret:/srv',
    'db:users',
    'tool:a b',
    'target:/srv/../etc/*',
  ])('%j cannot be read, and then the role covers nothing', (entry) => {
    expect(findScopeFault(entry)).toBeDefined();
    expect(parseResourceScopes([entry])).toBe('none');
    expect(parseResourceScopes(['*', entry])).toBe('none');
    expect(parseResourceScopes(['tool:files/*', entry])).toBe('none');
  });

  it.each([
    'target:/srv//a',
    'target:\\srv\\a',
    'target:/srv/./a',
    `tool:${'*a'.repeat(17)}`,
  ])('%j cannot be read either', (entry) => {
    expect(findScopeFault(entry)).toBeDefined();
  });

  it('know whether anything of a server is left', () => {
    const parsed = parseResourceScopes(['files/*', '*l/send']);
    if (parsed === null || parsed === 'none') throw new Error('not narrowed');
    expect(coverServer(parsed, 'files', effort())).toBe(true);
    expect(coverServer(parsed, 'mail', effort())).toBe(true);
    expect(coverServer(parsed, 'disk', effort())).toBe(true);
    const narrow = parseResourceScopes(['files/*']);
    if (narrow === null || narrow === 'none') throw new Error('not narrowed');
    expect(coverServer(narrow, 'disk', effort())).toBe(false);
  });
});

describe('a target', () => {
  it.each([
    '~/../data/a',
    '~root/../data/a',
    '$HOME/../data/a',
    'C:\\..\\data\\a',
    'c:/x/../../data/a',
  ])('%s is not the relative path that is left of it', (text) => {
    expect(covers(['target:data/**'], 'files/read', 'data/a')).toBe(true);
    expect(covers(['target:data/**'], 'files/read', text)).toBe(false);
  });

  const srv = (text: string) => covers(['target:/srv/public/**'], 'files/read', text);

  it.each([
    '/srv/public/a',
    '/srv/public/../public/a',
    '/srv//public///a/',
    '/srv/./public/a/b/c',
    '/srv/private/../public/a',
    'file:///srv/public/a',
    '/srv/public/%20a',
    '/../srv/public/a',
  ])('%s is in the folder', (text) => {
    expect(srv(text)).toBe(true);
  });

  it.each([
    '/srv/public/../private/a',
    '/srv/public/%2e%2e/private/a',
    '/srv/public/%2E%2e%2fprivate',
    '/srv/public/%252e%252e/private/a',
    '/srv/public/..\\private/a',
    '/srv/public\\..\\..\\etc',
    '/srv/public/%5c..%5c..%5cetc',
    '/srv/public/\uff0e\uff0e/private',
    '/srv/public/.. /private',
    '/srv/public/.../x',
    '/srv/public/..;/private',
    '/srv/public/..;a=b/private',
    '//srv/public/a',
    '/\\srv/public/a',
    '%2f/srv/public/a',
    'file:////srv/public/a',
    'file:///srv/public/../private',
    'file:///srv/public/%2e%2e/private',
    'FILE:///srv/private',
    'file://localhost/srv/public/a',
    'file:/srv/public/a',
    'file:///srv/public/a?/../../x',
    'srv/public/a',
    '../srv/public/a',
    ' /srv/public/a',
    '/srv/public/a\n/etc',
    '/srv/public/\u0000',
    '/srv/public/%00',
    '/srv/public/%c0%ae%c0%ae/x',
    '/SRV/public/a',
    'C:\\srv\\public\\a',
    '\\\\srv\\public\\a',
    `/srv/public/${'a'.repeat(5000)}`,
    '',
  ])('%j is not', (text) => {
    expect(srv(text)).toBe(false);
  });

  it.each([
    '/srv/public/Doe, John.txt',
    '/srv/public/R & D/a - b (1).txt',
    '/srv/public/notes: part 1, 10:30.txt',
    '/srv/public/cost $5 -v2 x=1.txt',
    '/srv/public/a;b,c~',
    'file:///srv/public/Doe,%20John',
  ])('%s is one path', (text) => {
    expect(srv(text)).toBe(true);
  });

  it.each([
    '/srv/public/a,/etc/passwd',
    '/srv/public/a, "/etc/passwd"',
    '/srv/public/a:/etc/passwd',
    '/srv/public/a;/etc/passwd',
    '/srv/public/a /etc/passwd',
    '/srv/public/a%20/etc/passwd',
    '/srv/public/a,\\etc\\passwd',
    '/srv/public/a ~/x',
    '/srv/public/a $HOME/x',
    '/srv/public/x/a ../../etc/passwd',
    '/srv/public/a,https://evil.com/x',
    '/srv/public/a,https:evil.com',
    '/srv/public/a,c:\\x',
    '/srv/public/ls --out=/etc/passwd',
    '/srv/public/ls -o/etc/passwd',
    '/srv/public/ls >/etc/passwd',
    '/srv/public/ls; cat /etc/passwd',
    '/srv/public/ls; reboot',
    '/srv/public/ls && reboot',
    '/srv/public/ls | sh',
    '/srv/public/$(cat x)',
    '/srv/public/`cat x`',
    'file:///srv/public/a,/etc/passwd',
  ])('%s names a second one', (text) => {
    expect(srv(text)).toBe(false);
  });

  it('is read in linear time', () => {
    const begun = performance.now();
    for (const part of [' ', ' a=', ',"', '%25', ':a', ' -', '\\', '$', ' a='.repeat(9)]) {
      readTarget(`/srv/${part.repeat(4_000 / part.length)}x`);
    }
    expect(performance.now() - begun).toBeLessThan(1_000);
  });

  const api = (text: string) => covers(['target:https://api.Example.com/v1/**'], 'web/get', text);

  it.each([
    'https://api.example.com/v1/a',
    'HTTPS://API.EXAMPLE.COM/v1/a',
    'https://api.example.com:443/v1/a?b=c',
    'https://api.example.com./v1/a',
    'https://api.example.com/v1',
    'https://api.example.com/v2/../v1/a',
  ])('%s is at the address', (text) => {
    expect(api(text)).toBe(true);
  });

  it.each([
    'https://api.example.com/v1/../v2',
    'https://api.example.com/v1/%2e%2e/v2',
    'https://api.example.com/v1/%2e%2e%2fv2',
    'https://api.example.com/v1//../../v2',
    'https://api.example.com@evil.com/v1/a',
    'https://evil.com/https://api.example.com/v1/a',
    'https://api.example.com\\@evil.com/v1/a',
    'https://api.example.com%2f@evil.com/v1/a',
    'https://api.example.com.evil.com/v1/a',
    'http://api.example.com/v1/a',
    'https:api.example.com/v1/a',
    'https://api.example.com:8443/v1/a',
    'https://api.example.com/v1 /a',
    'https://api.example.com/v1/a,https://evil.com/b',
    'https://api.example.com/v1/a;https://evil.com/b',
    'https://api.example.com/v1/a|https://evil.com/b',
    'https:api.example.com/x?u=://api.example.com/v1/a',
  ])('%s is not', (text) => {
    expect(api(text)).toBe(false);
  });

  it('is an address of one person, each of several', () => {
    const to = (text: string) => covers(['target:*@example.com'], 'mail/send', text);
    expect(to('a@example.com')).toBe(true);
    expect(to('a@EXAMPLE.com')).toBe(true);
    expect(to('a@example.com, b@example.com')).toBe(true);
    expect(to('b@evil.com, a@example.com')).toBe(false);
    expect(to('b@evil.com;a@example.com')).toBe(false);
    expect(to('"a@example.com" <b@evil.com>')).toBe(false);
    expect(to('<b@evil.com> a@example.com')).toBe(false);
    expect(to('b@evil.com@example.com')).toBe(false);
  });

  it('is a name', () => {
    const table = (text: string) => covers(['target:public.*'], 'db/read', text);
    expect(table('public.users')).toBe(true);
    expect(table('private.users')).toBe(false);
    expect(table('public.users, private.users')).toBe(false);
    expect(covers(['target:c:/work/**'], 'files/read', 'C:\\work\\a')).toBe(true);
    expect(covers(['target:c:/work/**'], 'files/read', 'C:\\work\\..\\a')).toBe(false);
  });
});
