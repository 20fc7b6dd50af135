import { expect, it } from 'vitest';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';

const { call, aTenantAdmin, test } = await testControlPlane();

const URL = '/api/v1/policies';
/** A source of so many KiB. */
const source = (kib: number) => `package p\n\n# ${'x'.repeat(kib * 1024 - 16)}`;

it('a tenant’s policies are 32 MiB together, archived ones too; what shrinks them is taken', async () => {
  const { token, scope } = await aTenantAdmin();
  const create = (name: string) => call(URL, { token, body: { name, rego_content: source(120) } });
  const first = (await create('first')).json();
  const fill = (count: number) =>
    test.superuser.query(
      `INSERT INTO policies (tenant_id, id, name, rego_content, status)
       SELECT $1, gen_random_uuid(), 'old', repeat('x', 128 * 1024), 'archived'
       FROM generate_series(1, $2)`,
      [scope.tenantId, count],
    );
  await fill(252);
  // One of them takes the last place.
  const answers = await Promise.all([create('second'), create('third'), create('fourth')]);
  const statuses = answers.map((answer) => answer.statusCode);
  expect(statuses.filter((status) => status === 201).length).toBeLessThan(3);
  const refused = answers.find((answer) => answer.statusCode === 409);
  expect(refused?.json().detail).toContain('32 MiB');
  const { policies } = (await call(URL, { token })).json();
  const bytes = Buffer.byteLength(JSON.stringify(policies));
  expect(bytes).toBeLessThan(33 * 1024 * 1024);

  await fill(2);
  const patch = (body: object) => call(`${URL}/${first.id}`, { token, method: 'PATCH', body });
  expect((await patch({ rego_content: source(121) })).statusCode).toBe(409);
  expect((await patch({ status: 'archived' })).statusCode).toBe(200);
  expect((await patch({ rego_content: 'package p\n' })).statusCode).toBe(200);
});
