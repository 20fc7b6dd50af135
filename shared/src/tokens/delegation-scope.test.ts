import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  completeScope,
  coversTool,
  findExceedingRoles,
  findExceedingScope,
  resourcesOf,
} from './delegation-scope.ts';
import { coversCall } from './permission.ts';
import { coverReach } from './resource-scopes.ts';

const role = (permissions: string[], resource_scopes: string[] = []) => ({
  permissions,
  resource_scopes,
});
const exceeds = (tools: string[], resources: string[], ...roles: ReturnType<typeof role>[]) =>
  findExceedingRoles(completeScope({ tools, resources }), roles);

describe('a scope at its issue', () => {
  it.each([
    [['files'], ['files:read']],
    [['files/read_file'], ['files:read']],
    [['files/*'], ['files:*']],
    [['files/read_*'], ['files/read_*:read']],
    [['read_file'], ['read_file:*']],
    [['files/read_file'], ['read_file:*']],
    [
      ['files/a', 'mail/b'],
      ['files:read', 'mail/b:execute'],
    ],
    [['*'], ['*:*']],
    [['localmodel-proxy'], ['web:read', 'web:write']],
    [['localmodel-proxy/localmodel-api'], ['web:*']],
    [['localmodel-proxy/*'], ['*:read']],
  ])('%j is within %j', (tools, permissions) => {
    expect(exceeds(tools, [], role(permissions))).toBeUndefined();
  });

  it.each([
    [['*'], ['files:*']],
    [['files'], ['files/*:read']],
    [['files/*'], ['files/read_*:read']],
    [['files/read_file'], ['mail:*']],
    [['read_file'], ['files:read']],
    [['f*/read_file'], ['files:*']],
    [['files/a'], ['files:nothing']],
    [['files/a'], ['no permission']],
    [['files/a'], []],
    [['localmodel-proxy'], ['localmodel-proxy:*']],
    [['localmodel-proxy/localmodel-api'], ['localmodel-proxy:*', 'web:write']],
    [['*'], ['web:*']],
    [['files/web'], ['web:*']],
    [['files/localmodel-proxy'], ['localmodel-proxy:*']],
  ])('%j is not within %j', (tools, permissions) => {
    expect(exceeds(tools, [], role(permissions))).toBe(tools[0]);
  });

  it.each<[tools: string[], permissions: string[], isWithin: boolean]>([
    [['localmodel-proxy'], ['localmodel-proxy:write'], true],
    [['localmodel-proxy/localmodel-api'], ['localmodel-proxy:*'], true],
    [['localmodel-proxy'], ['*:*'], true],
    [['localmodel-proxy'], ['web:*'], false],
    [['localmodel-proxy/*'], ['web:read', 'web:write'], false],
  ])('without the policy Local models, whether %j is within %j: %s', (tools, held, isWithin) => {
    const exceeding = findExceedingRoles(completeScope({ tools }), [role(held)], false);
    expect(exceeding === undefined).toBe(isWithin);
  });

  it('keeps to the scopes of roles', () => {
    const narrow = role(['files:*'], ['tool:files/read_*', 'target:/srv/**']);
    expect(exceeds(['files/read_file'], ['/srv/a', '/srv/b/**'], narrow)).toBeUndefined();
    expect(exceeds(['files/read_file'], ['/srv/**', '/etc/a'], narrow)).toBe('/etc/a');
    expect(exceeds(['files/read_file'], ['/**'], narrow)).toBe('/**');
    expect(exceeds(['files/read_file'], [], narrow)).toBe('*');
    expect(exceeds(['files/write_file'], ['/srv/a'], narrow)).toBe('files/write_file');
    expect(exceeds(['files/a'], [], role(['files:*'], ['unreadable:x']))).toBe('files/a');
    const flat = role(['files:*'], ['target:/srv/*']);
    expect(exceeds(['files/a'], ['/srv/**'], flat)).toBe('/srv/**');
    expect(exceeds(['files/a'], ['/srv/*'], flat)).toBeUndefined();
    // `/srv` itself is below `/srv/**`.
    expect(exceeds(['files/a'], ['/srv/**'], role(['files:*'], ['target:/**/*']))).toBe('/srv/**');
  });
});

describe('what a scope within another covers', () => {
  const word = fc.constantFrom('files', 'mail', 'read', 'read_file', 'r', 'a', 'b', 'web');
  const glob = fc.array(fc.oneof(word, fc.constant('*'), fc.constant('_')), {
    minLength: 1,
    maxLength: 3,
  });
  const name = glob.map((parts) => parts.join(''));
  const tool = fc.oneof(
    name,
    fc.tuple(name, name).map(([server, one]) => `${server}/${one}`),
  );
  const segment = fc.constantFrom('srv', 'a', 'b', '*', '**', 'a*');
  const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((all) => `/${all.join('/')}`);
  const scope = fc
    .record({
      tools: fc.array(tool, { maxLength: 3 }),
      resources: fc.array(path, { maxLength: 3 }),
    })
    .map(completeScope);
  const server = fc.constantFrom('files', 'mail', 'read', 'a', 'ab', 'filesmail', 'web');
  const toolName = fc.constantFrom(
    'read',
    'read_file',
    'r',
    'a',
    'b',
    'a/b',
    'b/read',
    'filesa',
    'web',
  );
  const place = fc
    .array(fc.constantFrom('srv', 'a', 'b', 'ab', 'etc'), { minLength: 1, maxLength: 5 })
    .map((all) => `/${all.join('/')}`);

  const coversPlace = (of: ReturnType<typeof completeScope>, target: string) => {
    const scopes = resourcesOf(of);
    if (scopes === null) return true;
    const reach = { resource: 'x/y', targets: [target] };
    return scopes !== 'none' && coverReach(scopes, reach, { left: 1_000_000 });
  };

  it('the other covers too', () => {
    fc.assert(
      fc.property(scope, scope, server, toolName, place, (inner, outer, at, called, target) => {
        fc.pre(findExceedingScope(inner, outer) === undefined);
        if (coversTool(inner, at, called)) expect(coversTool(outer, at, called)).toBe(true);
        if (coversPlace(inner, target)) expect(coversPlace(outer, target)).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  it('and the permissions that it was issued from, for some action', () => {
    const permission = tool.map((resource) => `${resource}:read`);
    fc.assert(
      fc.property(scope, fc.array(permission, { maxLength: 4 }), server, toolName, (...given) => {
        const [inner, permissions, at, called] = given;
        fc.pre(findExceedingRoles(inner, [role(permissions)]) === undefined);
        fc.pre(coversTool(inner, at, called));
        expect(permissions.some((one) => coversCall(one, at, called, 'read'))).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });
});
