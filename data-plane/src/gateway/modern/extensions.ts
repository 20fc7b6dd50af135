/** The one extension of MCP that the gateway carries. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';
