/**
 * A double of a local model runtime that speaks as one does: newline-delimited JSON and server-sent
 * events, in pieces that cut characters in two, errors in the middle of a stream, a model that is
 * not there. What a real one would refuse fails loudly.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RuntimeRequestSeen {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

/** What each model of the double does; every other name is missing. */
const WORDS = ['Grüße ', 'aus ', '東京 ', '🗼', '!'];
const MODELS = ['small', 'late-error', 'error-event', 'broken', 'held', 'silent'];

export type TestModelRuntime = Awaited<ReturnType<typeof startTestModelRuntime>>;

export async function startTestModelRuntime() {
  const seen: RuntimeRequestSeen[] = [];
  const ended: string[] = [];
  const held: (() => void)[] = [];
  const server = createServer((request, response) => {
    void serve(request, response).catch(() => response.destroy());
  });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString('utf8');
    const { method = '', url = '', headers } = request;
    seen.push({ method, url, headers, body });
    response.on('close', () => ended.push(response.writableFinished ? 'whole' : 'cut'));
    const path = url.split('?', 1)[0];
    const isList = path === '/api/tags' || path === '/v1/models';
    if (method !== (isList ? 'GET' : 'POST')) return json(response, 405, { error: 'method' });
    if (path === '/api/tags') {
      return json(response, 200, { models: MODELS.map((name) => ({ name, model: name })) });
    }
    if (path === '/v1/models') {
      const data = MODELS.map((id) => ({ id, object: 'model', created: 1, owned_by: 'library' }));
      return json(response, 200, { object: 'list', data });
    }
    const asked = JSON.parse(body) as Record<string, unknown>;
    const model = String(asked.model);
    if (!MODELS.includes(model)) {
      const message = `model '${model}' not found`;
      const error = path?.startsWith('/v1/')
        ? { message, type: 'not_found_error', param: null, code: null }
        : message;
      return json(response, 404, { error });
    }
    // As one that loads its model forever.
    if (model === 'silent') return;
    const speak = path?.startsWith('/v1/') ? speakOpenAi : speakNative;
    await speak(response, asked, model, path === '/api/generate');
  }

  async function hold(model: string): Promise<void> {
    if (model === 'held') await new Promise<void>((resolve) => held.push(resolve));
  }

  async function speakNative(
    response: ServerResponse,
    asked: Record<string, unknown>,
    model: string,
    generates: boolean,
  ): Promise<void> {
    const said = (content: string) =>
      generates ? { response: content } : { message: { role: 'assistant', content } };
    const counts = { done: true, done_reason: 'stop', prompt_eval_count: 11, eval_count: 5 };
    if (asked.stream === false) {
      return json(response, 200, { model, ...said(WORDS.join('')), ...counts });
    }
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    for (const [index, word] of WORDS.entries()) {
      if (index === 2) await hold(model);
      if (index === 3 && model === 'broken') return void response.destroy();
      if (index === 3 && model === 'late-error') {
        return void response.end(`${JSON.stringify({ error: 'out of memory' })}\n`);
      }
      await inPieces(response, `${JSON.stringify({ model, ...said(word), done: false })}\n`);
    }
    await inPieces(response, `${JSON.stringify({ model, ...said(''), ...counts })}\n`);
    response.end();
  }

  async function speakOpenAi(
    response: ServerResponse,
    asked: Record<string, unknown>,
    model: string,
  ): Promise<void> {
    const usage = { prompt_tokens: 11, completion_tokens: 5, total_tokens: 16 };
    const base = { id: 'chatcmpl-1', created: 1, model };
    if (asked.stream !== true) {
      const message = { role: 'assistant', content: WORDS.join('') };
      const choices = [{ index: 0, message, finish_reason: 'stop' }];
      return json(response, 200, { ...base, object: 'chat.completion', choices, usage });
    }
    const chunk = (more: object) =>
      `data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', ...more })}\n\n`;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const [index, content] of WORDS.entries()) {
      if (index === 2) await hold(model);
      if (index === 3 && model === 'broken') return void response.destroy();
      // The two ways in which runtimes tell it in a stream of events.
      if (index === 3 && model === 'late-error') {
        const error = { message: 'out of memory', type: 'server_error', param: null, code: null };
        return void response.end(`data: ${JSON.stringify({ error })}\n\ndata: [DONE]\n\n`);
      }
      if (index === 3 && model === 'error-event') {
        return void response.end('event: error\ndata: {"message":"out of memory"}\n\n');
      }
      const delta = { role: 'assistant', content };
      await inPieces(response, chunk({ choices: [{ index: 0, delta, finish_reason: null }] }));
    }
    await inPieces(response, chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }));
    const wantsUsage = (asked.stream_options as { include_usage?: boolean })?.include_usage;
    if (wantsUsage) await inPieces(response, chunk({ choices: [], usage }));
    response.end('data: [DONE]\n\n');
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    /** All that was said, whichever way it was asked. */
    words: WORDS,
    /** The requests that came, in their order. */
    seen,
    /** How each answer ended: whole, or cut by the other side or by itself. */
    ended,
    /** Lets the model `held` speak on. */
    release: () => {
      for (const go of held.splice(0)) go();
    },
    async stop(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

/** Writes a text cut in the middle of its characters, each piece on its own. */
async function inPieces(response: ServerResponse, text: string): Promise<void> {
  const bytes = Buffer.from(text);
  const first = bytes.findIndex((byte) => byte >= 0x80);
  const cut = first < 0 ? bytes.length >> 1 : first + 1;
  for (const piece of [bytes.subarray(0, cut), bytes.subarray(cut)]) {
    await new Promise<void>((resolve) => response.write(piece, () => resolve()));
    await new Promise((resolve) => setImmediate(resolve));
  }
}
