import { isObject } from '../upstream/message.ts';

/** The one extension of MCP that the gateway carries. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** Whether a client with these capabilities knows tasks. */
export function takesTasks(capabilities: Record<string, unknown> | undefined): boolean {
  const extensions = capabilities?.extensions;
  return isObject(extensions) && isObject(extensions[TASKS_EXTENSION]);
}
