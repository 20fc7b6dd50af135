/** What the matrix needs from any MCP client. */

/** The steps of a cell, in this order. */
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

/** A connected client. Every failed call rejects with the client's own error. */
export interface MatrixClient {
  /** The revision that it negotiated with the gateway; null if the client does not report it. */
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
  /** The npm package of the client. */
  packageName: string;
  /** Its version, if it is not a dependency of the project. */
  version?: string;
  /** The revision that it must speak with the gateway. */
  revision: string;
  /** What the client has no way to do, and why. */
  lacks: Partial<Record<Step, string>>;
  /** @param folder for the client's own files */
  connect(url: URL, authorization: string, folder: string): Promise<MatrixClient>;
}

/** The answers of the clients that can be asked. */
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
