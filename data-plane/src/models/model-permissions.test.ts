/** Whom permissions for local models let do what, at models and elsewhere. */
import { afterEach, expect, it } from 'vitest';
import { HTTP_SERVER, startTestPlane } from '../testing/test-plane.ts';
import { startTestUpstream } from '../testing/test-upstream.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

it('they cover no tool that a server calls like them', async () => {
  const names = ['web', 'localmodel-proxy'];
  const upstream = await startTestUpstream({ tools: names.map((name) => ({ name })) });
  ends.push(() => upstream.stop());
  const plane = await startTestPlane({ servers: [HTTP_SERVER('other', upstream.url)] });
  ends.push(() => plane.stop());
  const user = plane.addAgent(['web:read', 'web:write', 'localmodel-proxy:*', 'web:*']);
  const post = (method: string, params: object, of = user) =>
    plane.post(
      '/mcp/v1/other',
      { jsonrpc: '2.0', id: 1, method, params },
      { authorization: of.basic },
    );
  for (const name of names) {
    const { json } = await post('tools/call', { name, arguments: { q: 'x' } });
    expect(json.error, name).toMatchObject({ code: -32003 });
    expect(json.error.message, name).toContain('no policy allows this call');
  }
  expect((await post('tools/list', {})).json.result?.tools ?? []).toEqual([]);
  expect(upstream.messages('tools/call')).toEqual([]);
  // What names the tool's own server covers it.
  const other = plane.addAgent(['other/web:*']);
  const { json } = await post('tools/call', { name: 'web', arguments: {} }, other);
  expect(json.error).toBeUndefined();
  expect(upstream.messages('tools/call')).toHaveLength(1);
});
