/**
 * The shapes of the bench, at one size: each gets its specific refusal, and none a server error.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { JSON_SHAPES, TOKEN_SHAPES } from '../../../bench/hostile/shapes.ts';
import { postModern } from '../testing/test-modern-client.ts';
import { startTestPlane, type TestAgent, type TestPlane } from '../testing/test-plane.ts';

let plane: TestPlane;
let agent: TestAgent;

beforeAll(async () => {
  plane = await startTestPlane();
  agent = plane.addAgent();
});

afterAll(() => plane?.stop());

describe('a hostile body', () => {
  it.each(JSON_SHAPES)('of $name gets its specific refusal', async ({ make }) => {
    const body = make(512 * 1024).toString();
    const { status, json } = await plane.post('/mcp/v1', body, { authorization: agent.basic });
    // A batch of one invalid message is answered as a batch.
    const [refusal] = status === 200 ? json : [json];
    expect([200, 400]).toContain(status);
    expect([-32600, -32700]).toContain(refusal.error.code);
  });

  it.each([
    ['a long decimal', 'A number has more than 40 characters: send it as a string.'],
    ['a long integer', 'A number has more than 40 characters: send it as a string.'],
    ['a long key', 'A key has more than 8192 characters.'],
    ['opened and never closed', 'The text is nested too deeply.'],
    ['commas', 'The text has too many values and keys.'],
  ])('of %s gets the reason', async (name, message) => {
    const body = JSON_SHAPES.find((shape) => shape.name === name)
      ?.make(512 * 1024)
      .toString();
    const { json } = await plane.post('/mcp/v1', body, { authorization: agent.basic });
    expect(json.error.message).toBe(message);
  });
});

describe('a body that claims to be other than UTF-8 text', () => {
  const TOO = 'The body must not be compressed: leave out Content-Encoding.';

  it.each<[Record<string, string>, string]>([
    [{ 'content-encoding': 'gzip' }, TOO],
    [{ 'content-encoding': 'identity, br' }, TOO],
    [{ 'content-type': 'application/json; charset=utf-16' }, 'The body must be in UTF-8.'],
    [{ 'content-type': 'application/json;Charset="ISO-8859-1"' }, 'The body must be in UTF-8.'],
    [
      { 'content-type': 'application/json; charset=utf-8; charset=utf-7' },
      'The body must be in UTF-8.',
    ],
  ])('is refused in both eras: %j', async (headers, message) => {
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    const auth = { authorization: agent.basic };
    const legacy = await plane.post('/mcp/v1', ping, { ...auth, ...headers });
    const modern = await postModern(plane, 'server/discover', {}, { ...auth, headers });
    for (const { status, json } of [legacy, modern]) {
      expect([status, json]).toEqual([
        415,
        { jsonrpc: '2.0', id: null, error: { code: -32600, message } },
      ]);
    }
  });

  it.each<Record<string, string>>([
    { 'content-encoding': 'identity' },
    { 'content-type': 'application/json; charset="UTF-8"' },
    { 'content-type': 'application/json; charset=us-ascii' },
  ])('and %j is that', async (headers) => {
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    const { status } = await plane.post('/mcp/v1', ping, {
      authorization: agent.basic,
      ...headers,
    });
    expect(status).toBe(200);
  });
});

describe('a hostile token', () => {
  it.each(TOKEN_SHAPES)('of $name is refused with a 401', async ({ make }) => {
    for (const scheme of ['Bearer', 'Basic']) {
      const authorization = `${scheme} ${make(7 * 1024)}`;
      const { status } = await plane.post('/mcp/v1', '{}', { authorization });
      expect(status).toBe(401);
    }
  });
});
