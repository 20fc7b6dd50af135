/** Servers whose lists are longer, larger or slower than anybody can use. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PATIENT, sendByHand, toolCall } from '../../testing/test-client.ts';
import { modernRequest } from '../../testing/test-modern-client.ts';
import {
  HTTP_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../../testing/test-upstream.ts';

const MIB = 1024 * 1024;

type Page = { items: Record<string, unknown>[]; nextCursor?: string };

/** The hostile server's page for a cursor. */
let pageOf: (cursor: string | undefined) => Page | null;
let hostile: TestUpstream;
let good: TestUpstream;
let plane: TestPlane;
let agent: TestAgent;
let aborted = 0;

const MEMBERS: Record<string, string> = {
  'tools/list': 'tools',
  'resources/list': 'resources',
  'prompts/list': 'prompts',
  'resources/templates/list': 'resourceTemplates',
};

beforeEach(async () => {
  aborted = 0;
  const capabilities = { tools: {}, resources: {}, prompts: {} };
  hostile = await startTestUpstream({ capabilities });
  hostile.override(({ message }, response) => {
    const { id, method, params } = (message ?? {}) as Record<string, never>;
    const member = MEMBERS[method ?? ''];
    if (member === undefined) return false;
    const page = pageOf((params as { cursor?: string } | undefined)?.cursor);
    if (page === null) response.once('close', () => aborted++);
    else {
      const { items, ...rest } = page;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { [member]: items, ...rest } }));
    }
    return true;
  });
  good = await startTestUpstream({
    tools: ['read_one', 'read_two', 'read_three'].map((name) => ({ name })),
  });
  plane = await startTestPlane({
    servers: [HTTP_SERVER('a_hostile', hostile.url), HTTP_SERVER('good', good.url)],
  });
  agent = plane.addAgent(['*:*']);
});

afterEach(async () => {
  await plane?.stop();
  await hostile?.stop();
  await good?.stop();
});

const rpc = (method: string, params: unknown = {}) => ({ jsonrpc: '2.0', id: 1, method, params });
const list = async (path: string, method: string, cursor?: string, of = agent) =>
  (
    await plane.post(path, rpc(method, cursor === undefined ? {} : { cursor }), {
      authorization: of.basic,
    })
  ).json;
const reasons = () => plane.plane.serverReport(plane.tenantId).reasons;

/** All pages, as read by a client that continues as long as there is a cursor. */
async function readAll(path: string, method: string) {
  const pages: Record<string, string>[][] = [];
  let cursor: string | undefined;
  do {
    const { result } = await list(path, method, cursor);
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(6 * MIB);
    pages.push(result[MEMBERS[method] ?? '']);
    cursor = result.nextCursor;
  } while (cursor !== undefined && pages.length < 1000);
  return { pages, all: pages.flat() };
}

const endless =
  (perPage: number, key = 'name') =>
  (cursor = '0'): Page => {
    const from = Number(cursor);
    const items = Array.from({ length: perPage }, (_, n) => ({
      [key]: `read_${from + n}`,
      name: `read_${from + n}`,
    }));
    return { items, nextCursor: String(from + perPage) };
  };

describe('a list that never ends', () => {
  it.each([
    ['tools/list', 100, 2_000],
    ['resources/list', 1_000, 10_000],
    ['resources/templates/list', 1_000, 10_000],
    ['prompts/list', 1_000, 10_000],
  ])(
    '%s is read within its budget, and what is left out is named',
    async (method, size, most) => {
      pageOf = endless(
        size,
        { 'resources/list': 'uri', 'resources/templates/list': 'uriTemplate' }[method],
      );
      const { all } = await readAll('/mcp/v1/a_hostile', method);
      expect(all).toHaveLength(most);
      expect(reasons()?.a_hostile).toMatch(new RegExp(`^${method}: what is beyond ${most} items`));
      hostile.seen.length = 0;
      const joined = await readAll('/mcp/v1', method);
      const own = joined.all.filter((one) => JSON.stringify(one).includes('hostile'));
      expect(own).toHaveLength(most);
      expect(new Set(own.map((one) => JSON.stringify(one))).size).toBe(most);
    },
    60_000,
  );

  it('has an end where its pages are empty', async () => {
    pageOf = (cursor = '0') => ({ items: [], nextCursor: String(Number(cursor) + 1) });
    const { all } = await readAll('/mcp/v1', 'tools/list');
    expect(all.map(({ name }) => name)).toEqual([
      'good__read_one',
      'good__read_two',
      'good__read_three',
    ]);
    expect(hostile.messages('tools/list').length).toBeLessThanOrEqual(2_050);
  }, 60_000);

  it('is read within bounds for a call too, and the call continues', async () => {
    pageOf = endless(100);
    const { json } = await plane.post('/mcp/v1/a_hostile', toolCall('read_7'), {
      authorization: agent.basic,
    });
    expect(json.error ?? json.result).toBeDefined();
    await expect.poll(() => reasons()?.a_hostile, PATIENT).toMatch(/^tools\/list: what is beyond/);
    expect(hostile.messages('tools/list').length).toBeLessThanOrEqual(21);
  });
});

it('one page of more tools than anybody can use is cut, and hides no other server', async () => {
  const items = Array.from({ length: 5_000 }, (_, n) => ({ name: `read_${n}` }));
  pageOf = () => ({ items });
  const { pages, all } = await readAll('/mcp/v1', 'tools/list');
  const names = all.map(({ name }) => name ?? '');
  expect(pages[0]?.length).toBeLessThanOrEqual(2_000);
  expect(pages[0]?.filter(({ name }) => name?.startsWith('good__'))).toHaveLength(3);
  expect(names.filter((name) => name.startsWith('a_hostile__'))).toHaveLength(2_000);
  expect(new Set(names).size).toBe(2_003);
  expect(reasons()).toEqual({ a_hostile: expect.stringMatching(/2000 items/) });
  expect(plane.plane.serverReport(plane.tenantId).ok).toEqual(['a_hostile', 'good']);
  // Within bounds again, it is no longer reported.
  pageOf = () => ({ items: items.slice(0, 10) });
  expect((await readAll('/mcp/v1', 'tools/list')).all).toHaveLength(13);
  expect(reasons()).toBeUndefined();
});

it('tools that are large are counted by their size, and one that is too large is left out', async () => {
  const large = (n: number, size: number) => ({ name: `read_${n}`, description: 'a'.repeat(size) });
  pageOf = (cursor = '0') => {
    const from = Number(cursor);
    return {
      items: [large(from, 600 * 1024), large(from + 1, 600 * 1024)],
      ...(from < 20 && { nextCursor: String(from + 2) }),
    };
  };
  for (const path of ['/mcp/v1/a_hostile', '/mcp/v1']) {
    const { all } = await readAll(path, 'tools/list');
    const own = all.filter(({ description }) => description !== undefined);
    expect(own.length).toBe(6);
    expect(reasons()?.a_hostile).toMatch(/4194304 bytes is left out/);
  }
  pageOf = () => ({ items: [large(1, 10), large(2, 2 * MIB), large(3, 10)] });
  const { all } = await readAll('/mcp/v1/a_hostile', 'tools/list');
  expect(all.map(({ name }) => name)).toEqual(['read_1', 'read_3']);
  expect(reasons()?.a_hostile).toMatch(/an item of more than 1048576 bytes/);
});

it('a cursor is valid, unchanged, only for its agent, its path and its list', async () => {
  pageOf = endless(10);
  for (const path of ['/mcp/v1/a_hostile', '/mcp/v1']) {
    const { nextCursor } = (await list(path, 'prompts/list')).result;
    expect((await list(path, 'prompts/list', nextCursor)).result.prompts.length).toBeGreaterThan(0);
    const [text, seal] = nextCursor.split('.');
    const places = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    places[0][3] = 0;
    const forged = `${Buffer.from(JSON.stringify(places)).toString('base64url')}.${seal}`;
    const refused = [
      await list(path, 'prompts/list', nextCursor, plane.addAgent(['*:*'])),
      await list(path, 'resources/list', nextCursor),
      await list(path === '/mcp/v1' ? '/mcp/v1/good' : '/mcp/v1', 'prompts/list', nextCursor),
      await list(path, 'prompts/list', forged),
      await list(path, 'prompts/list', '10'),
      await list(path, 'prompts/list', 'a'.repeat(600 * 1024)),
    ];
    for (const { error } of refused) expect(error.code).toBe(-32602);
  }
});

it('a list is cancelled when a client of MCP 2026-07-28 disconnects', async () => {
  pageOf = () => null;
  for (const path of ['/mcp/v1/a_hostile', '/mcp/v1']) {
    aborted = 0;
    hostile.seen.length = 0;
    const { headers, body } = modernRequest('tools/list', {}, { authorization: agent.basic });
    const { cut } = sendByHand(plane, 'POST', path, headers, body);
    await expect.poll(() => hostile.messages('tools/list').length, PATIENT).toBe(1);
    cut();
    await expect.poll(() => aborted, PATIENT).toBe(1);
  }
});
