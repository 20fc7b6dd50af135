/** What the matrix asks of an MCP client, whichever one it is. */

/** What is done in a cell, in this order. */
export const STEPS = [
  'tools',
  'call',
  'denied call',
  'resources',
  'prompt',
  'completion',
  'progress',
  'elicitation',
  'sampling',
] as const;
export type Step = (typeof STEPS)[number];

type Arguments = Record<string, string | number>;

/** A connected client. Every call rejects with what the client itself makes of an error. */
export interface MatrixClient {
  /** The revision that it agreed on with the gateway; null where the client does not tell. */
  readonly revision: string | null;
  listTools(): Promise<string[]>;
  /** @returns the result as JSON */
  callTool(name: string, args: Arguments, onProgress?: () => void): Promise<string>;
  /** @returns the URIs */
  listResources(): Promise<string[]>;
  /** @returns the result as JSON */
  readResource(uri: string): Promise<string>;
  /** @returns the result as JSON */
  getPrompt(name: string, args: Record<string, string>): Promise<string>;
  /** @returns the values */
  complete(prompt: string, argument: string, value: string): Promise<string[]>;
  close(): Promise<void>;
}

/** One of the clients of the matrix. */
export interface ClientKind {
  title: string;
  /** The npm package that it comes from. */
  packageName: string;
  /** Its version, where it is no dependency of the project. */
  version?: string;
  /** The revision that it has to speak with the gateway. */
  revision: string;
  /** What the client itself has no way to do, and why. */
  lacks: Partial<Record<Step, string>>;
  /** @param folder for files of its own */
  connect(url: URL, authorization: string, folder: string): Promise<MatrixClient>;
}

/** What the clients that can be asked answer. */
export const ANSWERS = {
  elicitation: { action: 'accept' as const, content: { name: 'Ada' } },
  sampling: {
    model: 'a-model',
    role: 'assistant' as const,
    content: { type: 'text' as const, text: 'sampled by the client' },
  },
};

/** The code of a JSON-RPC error as clients pass it on; undefined for any other error. */
export function errorCode(error: unknown): number | undefined {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'number' ? code : undefined;
}
