import type { AgentCall, Continue, Deny } from '../call/calls.ts';
import { proceed } from '../call/pipeline-builder.ts';

export interface ArgumentsDeps {
  argumentLimits: {
    /** Bytes of the arguments as JSON in UTF-8. */
    bytes: number;
    /** Values and keys. */
    nodes: number;
  };
}

/**
 * Limits the arguments of a call before anything is computed over them: a policy, here or at an OPA
 * server, reads all of them, and blocks other work meanwhile.
 */
export function boundArguments<C extends AgentCall>(
  call: C,
  { argumentLimits }: ArgumentsDeps,
): Continue<C> | Deny {
  const { args, retry } = call.ask;
  const excess = findExcess(retry ? [args, retry] : args, argumentLimits);
  if (excess === undefined) return proceed(call);
  const message = `The arguments have more than ${excess}, the most that a call may have.`;
  return { kind: 'deny', cause: 'arguments', message, reasons: [] };
}

/** Most bytes of a character as JSON: `\u0000`. */
const BYTES_A_CHARACTER = 6;
/** Most bytes of a value that is no text, with the punctuation around it. */
const BYTES_A_NODE = 32;

/** The limit that a value exceeds, if any. Its depth is bounded, since it came from strict JSON. */
function findExcess(
  value: unknown,
  { bytes, nodes }: ArgumentsDeps['argumentLimits'],
): string | undefined {
  const size = { nodes: 0, characters: 0 };
  measure(value, size, nodes);
  if (size.nodes > nodes) return `${nodes} values and keys`;
  // Most calls are far below the limit, so that they need not be serialised.
  const atMost = size.characters * BYTES_A_CHARACTER + size.nodes * BYTES_A_NODE;
  if (atMost <= bytes || Buffer.byteLength(JSON.stringify(value)) <= bytes) return undefined;
  return `${bytes} bytes`;
}

/** Counts values, keys and characters. Stops when there are more than `nodes`. */
function measure(value: unknown, size: { nodes: number; characters: number }, nodes: number): void {
  size.nodes++;
  if (typeof value === 'string') size.characters += value.length;
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) {
      if (size.nodes > nodes) return;
      measure(item, size, nodes);
    }
    return;
  }
  for (const key in value) {
    if (size.nodes > nodes) return;
    size.nodes++;
    size.characters += key.length;
    measure((value as Record<string, unknown>)[key], size, nodes);
  }
}
