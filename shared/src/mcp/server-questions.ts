/** Methods of MCP with which a server asks a client. */
export const QUESTIONS: ReadonlySet<string> = new Set([
  'roots/list',
  'elicitation/create',
  'sampling/createMessage',
]);

/** Whether a method of MCP is a server's question to a client: its params come from the server. */
export function isQuestion(method: string): boolean {
  return QUESTIONS.has(method);
}
