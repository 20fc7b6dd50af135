/** The one extension of MCP that the gateway carries. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** The errors that MCP 2026-07-28 adds to JSON-RPC's, each sent with HTTP 400. */
export const MODERN_ERRORS = {
  HEADER_MISMATCH: -32020,
  MISSING_CLIENT_CAPABILITY: -32021,
  UNSUPPORTED_VERSION: -32022,
} as const;
