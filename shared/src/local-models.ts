/**
 * The names of calls to the local model runtime (specification 2, section 6), beside MCP servers
 * and their tools: no MCP server may have this id.
 */
export const LOCAL_MODELS = {
  serverId: 'localmodel-proxy',
  toolName: 'localmodel-api',
  /** The action in the record of such a call, whichever way its client sent it. */
  recordedAction: 'POST',
} as const;
