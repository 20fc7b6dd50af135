import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Grant } from '../contracts.ts';
import { isServerVisible, isToolVisible } from './grants.ts';

const grants = (...permissions: string[]): Grant[] => [{ permissions, scopes: null }];
const covers = (permission: string) =>
  isToolVisible(grants(permission), 'files', 'write_file', 'write');

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
    expect(isServerVisible(grants(permission), 'files', null)).toBe(true);
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
    expect(isServerVisible(grants('mail/*:read', 'nonsense', 'files:fly'), 'files', null)).toBe(
      false,
    );
    expect(isServerVisible(grants('echo:read'), 'files', null)).toBe(true);
    // The name of another server is that server's.
    const echo = { server_id: 'echo', transport: 'stdio', url: null, local_name: 'e' } as const;
    const registry = { settings: { mcp_servers: { echo } } };
    expect(isServerVisible(grants('echo:read'), 'files', registry)).toBe(false);
    expect(isServerVisible(grants('echo:read'), 'echo', registry)).toBe(true);
  });

  it('reads a star as any run of characters', () => {
    const part = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 });
    const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 });
    fc.assert(
      fc.property(part, text, (pattern, tool) => {
        const expression = new RegExp(`^${pattern.replaceAll('*', '.*')}$`);
        expect(isToolVisible(grants(`${pattern}:read`), '-', tool, 'read')).toBe(
          expression.test(tool) || expression.test('-') || expression.test(`-/${tool}`),
        );
      }),
      { numRuns: 1000 },
    );
  });
});
