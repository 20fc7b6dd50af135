/**
 * The tasks extension of revision 2026-07-28 (io.modelcontextprotocol/tasks), which the SDK leaves
 * to servers: tools that answer with a task, and the methods by which a client follows it.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CallToolResult,
  type InputRequests,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { declaredCapabilities } from './fixture-input-required.ts';

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';
const TTL_MS = 60_000;
const POLL_INTERVAL_MS = 50;
const WORK_MS = 200;
/** Tools that work only as tasks. */
const TASK_TOOLS = new Set([
  'failing_job',
  'protocol_error_job',
  'confirm_delete',
  'multi_input',
  'test_tool_with_task',
]);
const TASK_METHODS = new Set(['tasks/get', 'tasks/update', 'tasks/cancel']);

type Status = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

interface Task {
  id: string;
  status: Status;
  createdAt: string;
  updatedAt: string;
  /** In addition to the status: `result`, `error` or `inputRequests`. */
  detail: Record<string, unknown>;
  responses: Record<string, unknown>;
  /** Resumes once the last of the requests is answered. */
  resume?: () => void;
  readonly ended: AbortController;
}

type Work = (task: Task) => Promise<CallToolResult>;

const text = (value: string): CallToolResult => ({ content: [{ type: 'text', text: value }] });

const ask = <Shape extends z.ZodRawShape>(message: string, shape: Shape) =>
  inputRequired.elicit({ message, requestedSchema: z.object(shape) });

/** The tasks of one fixture, shared by all requests. */
export class FixtureTasks {
  readonly #tasks = new Map<string, Task>();

  register(server: McpServer): void {
    server.registerTool(
      'greet',
      { description: 'Greets at once', inputSchema: z.object({ name: z.string() }) },
      async ({ name }) => text(`Hello, ${name}!`),
    );
    server.registerTool(
      'slow_compute',
      { description: 'Takes its time', inputSchema: z.object({ seconds: z.number() }) },
      async ({ seconds }, context) => {
        const work = async (signal?: AbortSignal) => {
          await sleep(seconds * 1_000, undefined, { ref: false, signal });
          return text(`Computed for ${seconds} s.`);
        };
        if (seconds === 0 || !takesTasks(context)) return work();
        return this.#start((task) => work(task.ended.signal));
      },
    );
    this.#registerJob(server, 'failing_job', async () => ({
      ...text('The job failed.'),
      isError: true,
    }));
    this.#registerJob(server, 'protocol_error_job', async () => {
      throw new Error('The job broke off.');
    });
    this.#registerJob(server, 'confirm_delete', async (task) => {
      const answers = await this.#ask(task, { confirm: ask('Sure?', { confirm: z.boolean() }) });
      return text(`Answered: ${JSON.stringify(answers)}`);
    });
    this.#registerJob(server, 'multi_input', async (task) => {
      const first = ask('The first name?', { name: z.string() });
      const second = ask('The second name?', { name: z.string() });
      return text(`Answered: ${JSON.stringify(await this.#ask(task, { first, second }))}`);
    });
    server.registerTool(
      'test_tool_with_task',
      { description: 'Asks first and is a task then' },
      async (context: ServerContext): Promise<CallToolResult | InputRequiredResult> => {
        const { inputResponses } = context.mcpReq;
        if (inputResponse(inputResponses, 'user_name').kind === 'missing') {
          const user_name = ask('Your name?', { name: z.string() });
          return inputRequired({ inputRequests: { user_name } });
        }
        return this.#start(async () => text(`For ${JSON.stringify(inputResponses)}`));
      },
    );
    this.#registerMethods(server);
  }

  #registerJob(server: McpServer, name: string, work: Work): void {
    server.registerTool(name, { description: 'Is always a task' }, async () =>
      this.#start(async (task) => {
        await sleep(WORK_MS, undefined, { ref: false, signal: task.ended.signal });
        return work(task);
      }),
    );
  }

  #registerMethods(server: McpServer): void {
    const params = z.object({ taskId: z.string() });
    server.server.setRequestHandler('tasks/get', { params }, ({ taskId }) => {
      const task = this.#find(taskId);
      return { ...envelopeOf(task), ...task.detail };
    });
    server.server.setRequestHandler('tasks/update', { params }, ({ taskId }, { mcpReq }) => {
      // The SDK removes the responses from the params.
      this.#answer(this.#find(taskId), mcpReq.inputResponses ?? {});
      return {};
    });
    server.server.setRequestHandler('tasks/cancel', { params }, ({ taskId }) => {
      const task = this.#find(taskId);
      if (task.status === 'working' || task.status === 'input_required') {
        change(task, 'cancelled', {});
        task.ended.abort();
      }
      return {};
    });
  }

  /** @returns the immediate answer: the task, without its result */
  #start(work: Work): CallToolResult {
    const now = new Date().toISOString();
    const task: Task = {
      id: randomUUID(),
      status: 'working',
      createdAt: now,
      updatedAt: now,
      detail: {},
      responses: {},
      ended: new AbortController(),
    };
    this.#tasks.set(task.id, task);
    work(task).then(
      (result) => change(task, 'completed', { result: { resultType: 'complete', ...result } }),
      (error: Error) => {
        if (task.status === 'cancelled') return;
        change(task, 'failed', { error: { code: -32603, message: error.message } });
      },
    );
    // The SDK accepts only results with content.
    return { resultType: 'task', content: [], ...envelopeOf(task) };
  }

  #ask(task: Task, requests: InputRequests): Promise<Record<string, unknown>> {
    return new Promise((resolve) => {
      task.resume = () => resolve(task.responses);
      change(task, 'input_required', { inputRequests: { ...requests } });
    });
  }

  #answer(task: Task, given: Record<string, unknown>): void {
    if (task.status !== 'input_required') return;
    const left = { ...(task.detail.inputRequests as InputRequests) };
    for (const [key, response] of Object.entries(given)) {
      if (!Object.hasOwn(left, key)) continue;
      task.responses[key] = response;
      delete left[key];
    }
    if (Object.keys(left).length > 0) {
      change(task, 'input_required', { inputRequests: left });
      return;
    }
    change(task, 'working', {});
    task.resume?.();
  }

  #find(taskId: string): Task {
    const task = this.#tasks.get(taskId);
    if (task === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'No such task');
    return task;
  }
}

/**
 * Refuses a task request from a client without the extension. The SDK turns errors thrown by tools
 * into results, so this check must come before it.
 */
export function refuseWithoutTasks(body: unknown): Record<string, unknown> | undefined {
  const request = asked.safeParse(body).data;
  if (request === undefined) return undefined;
  const { id, method, params } = request;
  const about =
    TASK_METHODS.has(method) || (method === 'tools/call' && TASK_TOOLS.has(params.name));
  const capabilities = params._meta['io.modelcontextprotocol/clientCapabilities'];
  if (!about || capabilities.extensions?.[TASKS_EXTENSION] !== undefined) return undefined;
  const data = { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } };
  return { jsonrpc: '2.0', id, error: { code: -32021, message: 'Tasks are needed', data } };
}

const asked = z.looseObject({
  id: z.union([z.string(), z.number()]),
  method: z.string(),
  params: z.looseObject({
    name: z.string().default(''),
    _meta: z.looseObject({
      'io.modelcontextprotocol/clientCapabilities': z.looseObject({
        extensions: z.record(z.string(), z.unknown()).optional(),
      }),
    }),
  }),
});

function takesTasks(context: ServerContext): boolean {
  return declaredCapabilities(context).extensions?.[TASKS_EXTENSION] !== undefined;
}

function change(task: Task, status: Status, detail: Record<string, unknown>): void {
  // A cancelled task stays cancelled, whatever its work results in.
  if (task.status === 'cancelled') return;
  Object.assign(task, { status, detail, updatedAt: new Date().toISOString() });
}

function envelopeOf({ id, status, createdAt, updatedAt }: Task): Record<string, unknown> {
  return {
    taskId: id,
    status,
    createdAt,
    lastUpdatedAt: updatedAt,
    ttlMs: TTL_MS,
    pollIntervalMs: POLL_INTERVAL_MS,
  };
}
