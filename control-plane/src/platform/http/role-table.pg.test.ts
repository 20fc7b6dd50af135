/**
 * Every route of administrators × every role. What a role may is said here once more, by rules of
 * its own: a route that declares more than it should is found.
 */
import { readFileSync } from 'node:fs';
import { uuidv7 } from '@governance/shared/ids';
import { assetPath } from '@governance/shared/process/assets';
import Fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { ENDLESS_ROUTE, productRoutes } from '../../../../tests/support/route-paths.ts';
import {
  type CallOptions,
  testControlPlane,
} from '../../../../tests/support/test-control-plane.ts';
import type { AdminRole } from '../admin-role.ts';
import { type Guards, guardRoutes, type RouteEntry } from './route-table.ts';

const { call, controlPlane, aTenantAdmin, aColleague } = await testControlPlane();
const { scope, token } = await aTenantAdmin();
const routes = productRoutes(controlPlane.routes).filter(({ use }) => use !== undefined);
const keyOf = ({ method, url }: Pick<RouteEntry, 'method' | 'url'>) => `${method} ${url}`;

/** Shows what calls said, so a look at it is an administrator's. */
const NOT_FOR_READERS = ['GET /api/v1/audit/events/:event_id/payload'];
/** Changes nothing. */
const READS_BY_POST = [
  'POST /api/v1/policies/:id/evaluate',
  // Of what its caller may read all the same; with payloads for admin alone (export.pg.test.ts).
  'POST /api/v1/evidence/packages',
];
const OWN_ACCOUNT = [
  'GET /api/v1/auth/me',
  'POST /api/v1/auth/logout',
  'POST /api/v1/auth/password',
];
/** What waits for a person. */
const RESOLVES = [
  'POST /api/v1/escalations/:id/approve',
  'POST /api/v1/escalations/:id/deny',
  'POST /api/v1/exceptions/:id/approve',
  'POST /api/v1/exceptions/:id/reject',
  'POST /api/v1/inbound/holds/:id/resolve',
  'POST /api/v1/policies/:id/change-requests/:req_id/approve',
  'POST /api/v1/policies/:id/change-requests/:req_id/reject',
];

function mayCall(role: AdminRole, route: RouteEntry): boolean {
  const key = keyOf(route);
  if (role === 'admin' || OWN_ACCOUNT.includes(key)) return true;
  if (RESOLVES.includes(key)) return role === 'approver';
  if (READS_BY_POST.includes(key)) return true;
  return route.method === 'GET' && !NOT_FOR_READERS.includes(key);
}

/** A body that is no JSON, so that whoever gets past the guard changes nothing. */
function at(route: RouteEntry, given: string) {
  const isBare = route.method === 'GET' || route.method === 'DELETE';
  return call(route.url.replace(/:\w+/g, uuidv7()), {
    method: route.method as NonNullable<CallOptions['method']>,
    token: given,
    ...(isBare ? {} : { body: '{', headers: { 'content-type': 'application/json' } }),
  });
}

describe.each(['admin', 'approver', 'auditor'] as const)('the role %s', (role) => {
  const named = routes
    // Its answer does not end; what it declares is held below.
    .filter(({ url }) => url !== ENDLESS_ROUTE)
    .map((route) => [keyOf(route), mayCall(role, route), route] as const);

  it.each(named)('%s: %s', async (_, may, route) => {
    const colleague = await aColleague(scope, role);
    const answer = await at(route, colleague.token);
    if (may) {
      expect([401, 403], answer.body).not.toContain(answer.statusCode);
      expect(answer.statusCode, answer.body).toBeLessThan(500);
      return;
    }
    expect(answer.statusCode, answer.body).toBe(403);
    expect(answer.json().detail).toMatch(`The role ${role} may not do that: it is for admin`);
  });
});

it('the table of the routes says the same', () => {
  for (const route of routes) {
    const key = keyOf(route);
    const use = OWN_ACCOUNT.includes(key)
      ? 'own'
      : RESOLVES.includes(key)
        ? 'resolve'
        : mayCall('auditor', route)
          ? 'read'
          : 'manage';
    expect(route.use, key).toBe(use);
  }
});

it('docs/api.md says of each route who may call it, and OpenAPI too', async () => {
  const CALLERS = { manage: 'admin', resolve: 'approver', read: 'any role', own: 'the user' };
  const page = readFileSync(assetPath('docs/api.md'), 'utf8');
  const rows = page.split('\n').filter((line) => line.startsWith('| '));
  const { paths } = (await call('/docs/json')).json();
  for (const { method, url, use = 'manage' } of routes) {
    const path = url.replace(/:(\w+)/g, '{$1}');
    const roles = paths[path][method.toLowerCase()]['x-roles'];
    expect(roles, path).toEqual(
      { manage: ['admin'], resolve: ['admin', 'approver'] }[use as 'manage' | 'resolve'] ?? [
        'admin',
        'approver',
        'auditor',
      ],
    );
    const cells = rows
      .map((row) => row.split(' | '))
      .filter(([first, second]) => first === `| ${method}` && isSamePath(second ?? '', path));
    expect(cells, `${method} ${path}`).toHaveLength(1);
    expect(cells[0]?.[2], `${method} ${path}`).toContain(CALLERS[use]);
  }
});

/** The names of parameters aside. */
function isSamePath(cell: string, path: string): boolean {
  const nameless = (text: string) => text.replace(/\{\w+\}/g, '{}');
  return nameless(cell) === `\`${nameless(path)}\``;
}

describe('a route', () => {
  const build = () => {
    const app = Fastify();
    const pass = async () => {};
    return {
      app,
      table: guardRoutes(app, { admin: pass, 'data-plane': pass } as unknown as Guards),
    };
  };
  const schema = { response: {} };

  it('that says nothing of its use is for those who manage', () => {
    const { app, table } = build();
    app.get('/x', { config: { guard: 'admin' }, schema }, async () => '');
    expect(table[0]).toMatchObject({ use: 'manage' });
  });

  it('that no administrator calls has no use', () => {
    const { app, table } = build();
    app.get('/x', { config: { guard: 'data-plane' }, schema }, async () => '');
    expect(table[0]?.use).toBeUndefined();
    expect(() =>
      app.get('/y', { config: { guard: 'public', use: 'read' }, schema }, async () => ''),
    ).toThrow('GET /y declares a use, but its guard (public) asks for no role');
  });
});

it('nobody’s role is what their token says', async () => {
  const auditor = await aColleague(scope, 'auditor');
  const { id, username } = auditor.scope.actor;
  const { tenantId } = scope;
  const forged = await controlPlane.adminTokens.issue({
    ...{ role: 'admin', id, username, tenantId },
    version: '1',
  });
  expect((await call('/api/v1/auth/me', { token: forged })).statusCode).toBe(401);
  const me = await call('/api/v1/auth/me', { token });
  expect(me.json()).toMatchObject({ role: 'admin', may: ['manage', 'resolve', 'read', 'own'] });
});
