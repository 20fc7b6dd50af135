/** The fixture for modern clients: a server per request, and the tasks extension. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  type McpServer,
  type PerRequestResponseMode,
  type ServerCapabilities,
} from '@modelcontextprotocol/server';
import { FixtureTasks, refuseWithoutTasks, TASKS_EXTENSION } from './fixture-tasks.ts';
import type { ListChanges } from './fixture-tools.ts';

export interface ModernFixture {
  /** @param body parsed request body */
  handle(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void>;
  close(): Promise<void>;
}

/** @param newServer creates the server for one request */
export function createModernFixture(
  newServer: (changes: ListChanges, capabilities: ServerCapabilities) => McpServer,
): ModernFixture {
  const tasks = new FixtureTasks();
  const newHandler = (responseMode: PerRequestResponseMode, bus?: typeof plain.bus) =>
    createMcpHandler(
      () => {
        const server = newServer(changes, { extensions: { [TASKS_EXTENSION]: {} } });
        tasks.register(server);
        return server;
      },
      { legacy: 'reject', responseMode, ...(bus && { bus }) },
    );
  const changes: ListChanges = {
    tools: () => plain.notify.toolsChanged(),
    prompts: () => plain.notify.promptsChanged(),
  };
  const plain: ReturnType<typeof createMcpHandler> = newHandler('auto');
  const streaming = newHandler('sse', plain.bus);
  const handlePlain = toNodeHandler(plain);
  const handleStreaming = toNodeHandler(streaming);
  return {
    async handle(request, response, body) {
      const refusal = refuseWithoutTasks(body);
      if (refusal !== undefined) {
        response.writeHead(400, { 'content-type': 'application/json' });
        response.end(JSON.stringify(refusal));
        return;
      }
      // Like the gateway: the format that the client lists first.
      const wantsEvents = request.headers.accept?.trimStart().startsWith('text/event-stream');
      await (wantsEvents ? handleStreaming : handlePlain)(request, response, body);
    },
    async close() {
      await plain.close();
      await streaming.close();
    },
  };
}
