import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Permit } from '../../contracts.ts';
import type { Ask } from '../call/calls.ts';
import {
  findLackingPermission,
  isServerVisible,
  isToolVisible,
  permissionsFor,
} from './permits.ts';

const permits = (...permissions: string[]): Permit[] => [{ permissions, scopes: null }];
const covers = (permission: string) =>
  isToolVisible(
    permits(permission),
    { serverId: 'files', toolName: 'write_file', action: 'write' },
    null,
  );

describe('isToolVisible', () => {
  // The cases of the baseline policy's own test, policies/rego/lib/permissions_test.rego.
  it.each([
    'files:write',
    'files/write_file:write',
    'write_file:write',
    'files:*',
    '*:write',
    '*:*',
    'files/*:write',
    '*/write_file:write',
    'write_*:write',
    'files:wr*te',
    '*i*e*s:write',
    'f*/w*_f*:w*',
  ])('%s covers it', (permission) => {
    expect(covers(permission)).toBe(true);
    expect(isServerVisible(permits(permission), 'files', null)).toBe(true);
  });

  it.each([
    ...['files:read', 'file:write', 'files/:write', 'files/write:write', 'mail/*:write', 'mail:*'],
    ...['*', 'files', '', ':', ':write', 'files:', 'files:write:read', 'f?les:write'],
    ...['f[a-z]les:write', '{files,mail}:write', 'files*files:write', 'FILES:write'],
  ])('%s does not', (permission) => {
    expect(covers(permission)).toBe(false);
  });

  it('hides a server from an agent that may use none of its tools', () => {
    expect(isServerVisible([], 'files', null)).toBe(false);
    expect(isServerVisible(permits('mail/*:read', 'nonsense', 'files:fly'), 'files', null)).toBe(
      false,
    );
    expect(isServerVisible(permits('echo:read'), 'files', null)).toBe(true);
    expect(isServerVisible(permits('web:read', 'localmodel-proxy:read'), 'files', null)).toBe(
      false,
    );
    // The name of another server is that server's.
    const echo = { server_id: 'echo', transport: 'stdio', url: null, local_name: 'e' } as const;
    const registry = { settings: { mcp_servers: { echo } } };
    expect(isServerVisible(permits('echo:read'), 'files', registry)).toBe(false);
    expect(isServerVisible(permits('echo:read'), 'echo', registry)).toBe(true);
  });

  it('reads a star as any run of characters', () => {
    const part = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 });
    const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 });
    fc.assert(
      fc.property(part, text, (pattern, tool) => {
        const expression = new RegExp(`^${pattern.replaceAll('*', '.*')}$`);
        expect(
          isToolVisible(
            permits(`${pattern}:read`),
            { serverId: '-', toolName: tool, action: 'read' },
            null,
          ),
        ).toBe(expression.test(tool) || expression.test('-') || expression.test(`-/${tool}`));
      }),
      { numRuns: 1000 },
    );
  });
});

describe('a tool that is called like something of another server', () => {
  const server = (server_id: string) =>
    ({ server_id, transport: 'stdio', url: null, local_name: server_id }) as const;
  const rules = { settings: { mcp_servers: { files: server('files'), evil: server('evil') } } };
  const judged = (permission: string, serverId: string, name: string) => {
    const ask: Ask = { serverId, method: 'tools/call', name, args: {} };
    const held = permits(permission);
    const call = { ask, action: 'read', rules: rules as never } as const;
    return {
      inPolicy: permissionsFor(held, ask, rules),
      isLacking: findLackingPermission({ permits: held }, call) !== undefined,
      isVisible: isToolVisible(held, { serverId, toolName: name, action: 'read' }, rules),
    };
  };
  const COVERED = { isLacking: false, isVisible: true };
  const NOT_COVERED = { inPolicy: [], isLacking: true, isVisible: false };

  it.each([
    ['files:*', 'evil', 'files'],
    ['files:read', 'evil', 'files'],
    ['files/*:read', 'evil', 'files/read_x'],
    ['files/*:*', 'evil', 'files/any'],
    ['files/read_x:read', 'evil', 'files/read_x'],
    // Local models need these, and neither has to be registered.
    ['web:read', 'evil', 'web'],
    ['web/*:read', 'evil', 'web/search'],
    ['localmodel-proxy:*', 'evil', 'localmodel-proxy'],
  ])('%s does not cover it at %s: %s', (permission, serverId, name) => {
    expect(judged(permission, serverId, name)).toEqual(NOT_COVERED);
  });

  it.each([
    ['files:read', 'files', 'files'],
    ['files/*:read', 'files', 'files/read_x'],
    ['read_x:read', 'evil', 'read_x'],
    ['*/read_x:read', 'evil', 'read_x'],
    ['evil/files:read', 'evil', 'files'],
    ['*:*', 'evil', 'files'],
    ['evil/web:read', 'evil', 'web'],
    ['web:read', 'web', 'search'],
    ['mcp:prompts/get:read', 'evil', 'mcp:prompts/get'],
  ])('%s covers %s: %s', (permission, serverId, name) => {
    expect(judged(permission, serverId, name)).toEqual({ inPolicy: [permission], ...COVERED });
  });

  it('nor where that server is disabled', () => {
    const settings = { mcp_servers: { evil: server('evil') }, other_server_ids: ['files'] };
    const ask: Ask = { serverId: 'evil', method: 'tools/call', name: 'files', args: {} };
    const held = permits('files:*');
    expect(permissionsFor(held, ask, { settings })).toEqual([]);
    expect(
      isToolVisible(held, { serverId: 'evil', toolName: 'files', action: 'read' }, { settings }),
    ).toBe(false);
    expect(
      isToolVisible(held, { serverId: 'evil', toolName: 'other', action: 'read' }, { settings }),
    ).toBe(false);
  });

  it.each<
    [hasPolicy: boolean | undefined, action: 'read' | 'write', held: string[], lacks: string]
  >([
    [true, 'write', ['web:read', 'web:write'], ''],
    [true, 'read', ['web:read'], ''],
    [true, 'write', ['localmodel-proxy:*'], 'web:read'],
    [true, 'write', ['localmodel-proxy:*', 'web:read'], 'web:write'],
    [false, 'write', ['web:read', 'web:write'], 'localmodel-proxy/localmodel-api:write'],
    [false, 'write', ['localmodel-proxy:read'], 'localmodel-proxy/localmodel-api:write'],
    [false, 'write', ['localmodel-proxy:write'], ''],
    [false, 'read', ['localmodel-api:read'], ''],
    [undefined, 'write', ['web:*'], 'localmodel-proxy/localmodel-api:write'],
    [undefined, 'write', ['localmodel-proxy:*'], 'web:read'],
    [undefined, 'write', ['web:*', 'localmodel-proxy:*'], ''],
    [undefined, 'read', ['*:read'], ''],
  ])('a call to a model, Local models active: %s, to %s, with %j, lacks: %s', (...given) => {
    const [local_models_policy, action, held, lacks] = given;
    const ask = { serverId: 'localmodel-proxy', method: '', name: 'localmodel-api', args: {} };
    const settings = { ...rules.settings, local_models_policy };
    const call = { ask, action, rules: { settings } as never };
    const lacking = findLackingPermission({ permits: permits(...held) }, call);
    expect(lacking?.permission ?? '').toBe(lacks);
  });

  it('leaves permissions that only a policy of the tenant reads', () => {
    expect(judged('payments/refund:approve', 'evil', 'pay').inPolicy).toEqual([
      'payments/refund:approve',
    ]);
  });

  it('permissions for methods of MCP are for every server', () => {
    expect(isServerVisible(permits('mcp:prompts/get:read'), 'files', rules)).toBe(true);
    expect(isServerVisible(permits('evil/mcp:prompts/get:read'), 'files', rules)).toBe(false);
  });
});
