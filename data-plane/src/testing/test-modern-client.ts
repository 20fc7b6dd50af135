/** Requests of MCP 2026-07-28, written by hand, so that a test can also get them wrong. */
import type { TestPlane } from './test-plane.ts';

const META = 'io.modelcontextprotocol/';

export interface ModernOptions {
  authorization: string;
  path?: string;
  id?: number | string;
  capabilities?: unknown;
  /** More members of `_meta`; undefined takes one away. */
  meta?: Record<string, unknown>;
  /** More headers; undefined takes one away. */
  headers?: Record<string, string | undefined>;
}

/** The member of `params` that a header repeats. */
function nameOf(method: string, params: Record<string, unknown>): unknown {
  if (method.startsWith('tasks/')) return params.taskId;
  if (method === 'resources/read') return params.uri;
  return method === 'tools/call' || method === 'prompts/get' ? params.name : undefined;
}

/** A request with all that belongs to it: its headers and its body. */
export function modernRequest(
  method: string,
  params: Record<string, unknown>,
  { authorization, id = 1, capabilities = {}, meta, headers }: ModernOptions,
): { headers: Record<string, string>; body: Record<string, unknown> } {
  const name = nameOf(method, params);
  const all = {
    authorization,
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(typeof name === 'string' && { 'mcp-name': name }),
    ...headers,
  };
  const _meta = {
    [`${META}protocolVersion`]: '2026-07-28',
    [`${META}clientInfo`]: { name: 'test', version: '1' },
    [`${META}clientCapabilities`]: capabilities,
    ...meta,
  };
  return {
    headers: Object.fromEntries(
      Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined),
    ),
    body: { jsonrpc: '2.0', id, method, params: { ...params, _meta } },
  };
}

/** Sends one and answers as `plane.post` does; of a stream, with its messages. */
export async function postModern(
  plane: TestPlane,
  method: string,
  params: Record<string, unknown>,
  options: ModernOptions,
) {
  const { headers, body } = modernRequest(method, params, options);
  const answer = await plane.post(options.path ?? '/mcp/v1/up', body, headers);
  const events = answer.text
    .split('\n')
    .flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6))] : []));
  return { ...answer, events, last: answer.json ?? events.at(-1) };
}

/** A message of a stream. */
export interface Heard {
  id?: unknown;
  method?: string;
  params?: Record<string, unknown>;
  result?: object;
}

/** Opens a stream of `subscriptions/listen`; `heard` has all that came on it so far. */
export function listenModern(plane: TestPlane, notifications: object, options: ModernOptions) {
  const { headers, body } = modernRequest('subscriptions/listen', { notifications }, options);
  const abort = new AbortController();
  const answer = fetch(`${plane.url}${options.path ?? '/mcp/v1/up'}`, {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify(body),
    signal: abort.signal,
  });
  const received: Heard[] = [];
  let begun = () => {};
  const acknowledged = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const read = async () => {
    let text = '';
    for await (const chunk of (await answer).body ?? []) {
      text += Buffer.from(chunk).toString();
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      for (const line of lines)
        if (line.startsWith('data: ')) received.push(JSON.parse(line.slice(6)));
      if (received.length > 0) begun();
    }
  };
  const done = read().then(
    () => received,
    () => received,
  );
  return {
    answer,
    received,
    /** The first message is there. */
    acknowledged,
    /** Ends with the stream. */
    done,
    async close() {
      abort.abort();
      await done;
    },
  };
}
