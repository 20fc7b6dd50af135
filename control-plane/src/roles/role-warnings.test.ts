import { expect, it } from 'vitest';
import { findRoleWarnings } from './role-warnings.ts';

const serverIds = Array.from({ length: 500 }, (_, i) => `${'a'.repeat(58)}${1_000 + i}`);

it('compares no more of a role full of stars than it has time for, and says so', () => {
  const stars = '*a'.repeat(57);
  const permissions = Array.from({ length: 1_000 }, (_, i) => `${stars}*b${i}/x*:read`);
  const resourceScopes = Array.from({ length: 1_000 }, (_, i) => `tool:${'*a'.repeat(15)}b${i}`);
  const warnings = findRoleWarnings({ permissions, resourceScopes }, serverIds);
  expect(warnings.at(-1)).toMatch(/^19\d\d of the permissions and scopes were not compared/);
  expect(warnings.length).toBeLessThan(100);
});

it('compares all of a role as people write them', () => {
  const permissions = Array.from({ length: 100 }, (_, i) => `tickets-${i}/*:read`);
  const few = serverIds.slice(0, 50);
  expect(findRoleWarnings({ permissions, resourceScopes: [] }, few)).toHaveLength(100);
});

it('knows the servers of local models, which nobody registers', () => {
  const permissions = ['web:read', 'web:*', 'localmodel-proxy:write'];
  const resourceScopes = ['tool:localmodel-proxy/*'];
  expect(findRoleWarnings({ permissions, resourceScopes }, [])).toEqual([]);
  const mistaken = { permissions: ['localmodel-prox:write'], resourceScopes: ['tool:web/*'] };
  expect(findRoleWarnings(mistaken, [])).toEqual([
    expect.stringContaining('no MCP server localmodel-prox is registered'),
    'tool:web/*: the scope matches no tool of a registered MCP server, as server/tool',
  ]);
});
