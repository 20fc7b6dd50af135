/**
 * The parameters of tools that a server wants mirrored in HTTP headers (`x-mcp-header` in a tool's
 * `inputSchema`), and the values of such headers.
 */
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { UpstreamAnswer } from '../upstream.ts';
import { findMember } from './members.ts';

/** A parameter: its path in the arguments, and the name of its header. */
export interface ToolHeader {
  path: readonly string[];
  name: string;
}

const ANNOTATION = 'x-mcp-header';
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/;
const TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean']);
const PLAIN = /^[\x20-\x7e\t]+$/;

/** Tools with such headers that are remembered of one server, and headers of one tool. */
const MAX_TOOLS = 1000;
const MAX_NAME = 256;
const MAX_HEADERS = 64;
const MAX_DEPTH = 64;

/**
 * Finds the annotations of a tool.
 *
 * @returns the headers, or why the annotations are invalid
 */
export function scanToolHeaders(inputSchema: unknown): ToolHeader[] | string {
  const headers: ToolHeader[] = [];
  const names = new Set<string>();
  let fault: string | null = null;

  // Only a chain of `properties` may lead to an annotation.
  function visit(node: unknown, path: string[], isReachable: boolean, depth: number): void {
    if (fault !== null || typeof node !== 'object' || node === null) return;
    if (depth > MAX_DEPTH) {
      fault = 'the schema is too deep';
      return;
    }
    if (Array.isArray(node)) {
      for (const item of node) visit(item, path, false, depth + 1);
      return;
    }
    const schema = node as Record<string, unknown>;
    if (ANNOTATION in schema) add(schema, path, isReachable && path.length > 0);
    for (const [keyword, part] of Object.entries(schema)) {
      // Data, in which the keyword has no meaning.
      if (keyword === 'default' || keyword === 'const' || keyword === 'enum') continue;
      if (keyword === 'examples') continue;
      if (keyword !== 'properties' || typeof part !== 'object' || part === null) {
        visit(part, path, false, depth + 1);
        continue;
      }
      for (const [name, property] of Object.entries(part)) {
        visit(property, [...path, name], isReachable, depth + 1);
      }
    }
  }

  function add(schema: Record<string, unknown>, path: string[], isAllowed: boolean): void {
    const name = schema[ANNOTATION];
    const named = path.join('.');
    if (!isAllowed) fault = `${ANNOTATION} where it must not be: ${named}`;
    else if (typeof name !== 'string' || !TOKEN.test(name)) fault = `no header name: ${named}`;
    else if (!TYPES.has(schema.type)) fault = `neither text, integer nor boolean: ${named}`;
    else if (names.has(name.toLowerCase())) fault = `a header name twice: ${name}`;
    else if (headers.length >= MAX_HEADERS) fault = `more than ${MAX_HEADERS} headers`;
    else {
      names.add(name.toLowerCase());
      headers.push({ path, name: `mcp-param-${name.toLowerCase()}` });
    }
  }

  visit(inputSchema, [], true, 0);
  return fault ?? headers;
}

/** A text as the value of a header; what a header cannot carry is encoded. */
export function headerValue(text: string): string {
  const isSentinel = text.startsWith('=?base64?') && text.endsWith('?=');
  if (PLAIN.test(text) && text.trim() === text && !isSentinel) return text;
  return `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`;
}

/** The headers of one server's tools, as far as its lists were seen. */
export class ToolHeaders {
  readonly #known = new LRUCache<string, readonly ToolHeader[]>({ max: MAX_TOOLS });
  readonly #server: string;
  readonly #log: Pick<Logger, 'warn'>;
  /** A tool that is left out, for the log. */
  #refused: { tool: string; why: string } | null = null;

  constructor(server: string, log: Pick<Logger, 'warn'>) {
    this.#server = server;
    this.#log = log;
  }

  has(tool: string): boolean {
    return this.#known.has(tool);
  }

  /**
   * Learns from an answer to `tools/list`.
   *
   * @returns the answer without the tools whose annotations are invalid, which a client
   *   must leave out (MCP, custom headers from tool parameters)
   */
  learn(answer: UpstreamAnswer): UpstreamAnswer {
    const value = answer.value as Record<string, unknown>;
    if (answer.kind === 'error' || !Array.isArray(value.tools)) return answer;
    const kept = value.tools.filter((tool) => this.#learnTool(tool));
    if (kept.length === value.tools.length) return answer;
    const fields = { server: this.#server, ...this.#refused };
    const leftOut = value.tools.length - kept.length;
    this.#log.warn({ ...fields, leftOut }, 'tools are left out: invalid x-mcp-header annotations');
    const rest = { ...value, tools: kept };
    return { kind: 'result', raw: JSON.stringify(rest), value: rest };
  }

  /** The headers of a call, names and values in turn. */
  of(members: string): string[] {
    if (this.#known.size === 0) return [];
    const tool = JSON.parse(findMember(members, 'name') ?? 'null');
    const known = this.#known.get(tool);
    if (known === undefined) return [];
    const args: unknown = JSON.parse(findMember(members, 'arguments') ?? 'null');
    return known.flatMap(({ path, name }) => {
      const text = textOf(valueAt(args, path));
      return text === null ? [] : [name, headerValue(text)];
    });
  }

  #learnTool(tool: unknown): boolean {
    if (typeof tool !== 'object' || tool === null) return true;
    const { name, inputSchema } = tool as { name?: unknown; inputSchema?: unknown };
    if (typeof name !== 'string') return true;
    const headers = scanToolHeaders(inputSchema);
    this.#known.delete(name);
    if (typeof headers === 'string') {
      this.#refused = { tool: name.slice(0, 200), why: headers.slice(0, 200) };
      return false;
    }
    // A tool with so long a name cannot be called.
    if (headers.length === 0 || name.length > MAX_NAME) return true;
    this.#known.set(name, headers);
    return true;
  }
}

/** The value of an argument that a header repeats. */
export function valueAt(args: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(memberOf, args);
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}

/** Null for a value without a header: missing, null, or neither text, integer nor boolean. */
export function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : null;
}
