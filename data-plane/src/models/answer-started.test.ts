/** The record that a model streams its answer: written while the stream runs, before the outcome. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { LedgerRecord } from '@governance/shared/ledger/ledger-record';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startTestModelRuntime, type TestModelRuntime } from '../testing/test-model-runtime.ts';
import { startTestPlane, type TestPlane, type TestPlaneOptions } from '../testing/test-plane.ts';

const CHAT = '/api/v1/localmodel/api/chat';
const WORD = 'xyzzy-content';

let runtime: TestModelRuntime;
let plane: TestPlane;
let bearer: string;
/** What came off the ledger so far, but for the start of its epoch. */
let records: LedgerRecord[];

beforeEach(async () => {
  runtime = await startTestModelRuntime();
  records = [];
});
afterEach(async () => {
  runtime.release();
  await plane.stop();
  await runtime.stop();
});

async function start(options: TestPlaneOptions = {}): Promise<void> {
  plane = await startTestPlane({ ...options, config: { localModelUrl: runtime.url } });
  bearer = plane.addAgent(['web:read', 'web:write']).bearer();
}

const chat = (model: string, stream: boolean) =>
  fetch(`${plane.url}${CHAT}`, {
    method: 'POST',
    headers: { authorization: bearer },
    body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: WORD }] }),
  });

async function typesUntil(type: LedgerRecord['type']): Promise<string[]> {
  await expect
    .poll(
      async () => {
        const found = await plane.records();
        records.push(...found.filter((one) => one.type !== 'epoch_start'));
        return records.map((one) => one.type);
      },
      { timeout: 10_000 },
    )
    .toContain(type);
  return records.map((one) => one.type);
}

describe('a streamed answer', () => {
  it('is recorded with its status while it runs, and before its outcome', async () => {
    await start();
    const response = await chat('held', true);
    // The runtime holds the rest of the answer back until it is released.
    expect(await typesUntil('answer_started')).toEqual(['decision', 'answer_started']);
    const [decision, started] = records;
    expect(started).toMatchObject({ event_id: decision?.id, status: 200, bundle_revision: 1 });
    runtime.release();
    expect(await response.text()).toContain('"done":true');
    expect(await typesUntil('outcome')).toEqual(['decision', 'answer_started', 'outcome']);
    expect(records[2]).toMatchObject({
      ...{ event_id: decision?.id, outcome: 'forwarded' },
      model_usage: { status: 200, input_tokens: 11, output_tokens: 5, finish_reason: 'stop' },
    });
    const written = JSON.stringify(records);
    for (const word of [WORD, 'Grüße', '東京']) expect(written).not.toContain(word);
  });

  it('passes all the same where its start cannot be recorded', async () => {
    await start({
      wrapLedger: (ledger) => ({
        ...ledger,
        append: (tenantId, record, ...more) =>
          record.type === 'answer_started'
            ? Promise.reject(new Error('no room'))
            : ledger.append(tenantId, record, ...more),
      }),
    });
    expect(await (await chat('small', true)).text()).toContain('"done":true');
    expect(await typesUntil('outcome')).toEqual(['decision', 'outcome']);
  });
});

it.each([
  ['in one piece', () => chat('small', false)],
  ['of an unknown model', () => chat('absent', true)],
  [
    'with the list of models',
    () => fetch(`${plane.url}/api/v1/localmodel/api/tags`, { headers: { authorization: bearer } }),
  ],
])('an answer %s has no such record', async (_what, ask) => {
  await start();
  await (await ask()).text();
  expect(await typesUntil('outcome')).toEqual(['decision', 'outcome']);
});

it('an answer of a status that HTTP does not know passes without such a record', async () => {
  const odd = createServer((_, response) => {
    response.writeHead(700, { 'content-type': 'application/x-ndjson' });
    response.end('{"done":true}\n');
  });
  await new Promise<void>((resolve) => odd.listen(0, '127.0.0.1', resolve));
  const { port } = odd.address() as AddressInfo;
  plane = await startTestPlane({ config: { localModelUrl: `http://127.0.0.1:${port}` } });
  bearer = plane.addAgent().bearer();
  const response = await chat('small', true);
  expect({ status: response.status, text: await response.text() }).toEqual({
    ...{ status: 700, text: '{"done":true}\n' },
  });
  expect(await typesUntil('outcome')).toEqual(['decision', 'outcome']);
  odd.closeAllConnections();
  odd.close();
});

it.each([
  ['text/event-stream; charset=utf-8', 'data: {"error":{"message":"busy"}}\n\n'],
  ['Application/X-NDJSON', '{"error":"busy"}\n'],
])('an error that is streamed as %s has its status', async (type, body) => {
  const open: ServerResponse[] = [];
  const failing = createServer((_, response) => {
    response.writeHead(503, { 'content-type': type });
    response.flushHeaders();
    open.push(response);
  });
  await new Promise<void>((resolve) => failing.listen(0, '127.0.0.1', resolve));
  const { port } = failing.address() as AddressInfo;
  plane = await startTestPlane({ config: { localModelUrl: `http://127.0.0.1:${port}` } });
  bearer = plane.addAgent().bearer();
  const response = await chat('small', true);
  expect(response.status).toBe(503);
  expect(await typesUntil('answer_started')).toEqual(['decision', 'answer_started']);
  expect(records[1]).toMatchObject({ status: 503 });
  for (const one of open) one.end(body);
  expect(await response.text()).toBe(body);
  await typesUntil('outcome');
  expect(records[2]).toMatchObject({ outcome: 'tool_error', model_usage: { status: 503 } });
  failing.closeAllConnections();
  failing.close();
});
