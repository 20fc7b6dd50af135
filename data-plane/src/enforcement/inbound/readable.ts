/**
 * The text that the injection scan reads of a server's message: images and sounds are left out, and
 * base64 that encodes text is decoded. Places in findings stay those of the original value.
 */
import { isUtf8 } from 'node:buffer';
import { isObject } from '../../upstream/message.ts';

/** Members of results that hold content blocks, resources or messages. */
const HOLDING = ['content', 'contents', 'messages'] as const;
/** Characters of a blob that decide whether it is text. A multiple of four, as base64 needs. */
const SAMPLE = 4_096;
/** Levels of members within blocks that are read, as deep as MCP defines them. */
const MAX_DEPTH = 4;

/** @param value of a result, or of params that a server sent */
export function readable(value: unknown): unknown {
  return isObject(value) ? readableMembers(value, 0) : value;
}

function readableMembers(value: Record<string, unknown>, depth: number): Record<string, unknown> {
  let changed: Record<string, unknown> | undefined;
  const put = (name: string, part: unknown) => {
    if (part === value[name]) return;
    changed ??= { ...value };
    changed[name] = part;
  };
  for (const name of HOLDING) {
    const part = value[name];
    if (Array.isArray(part)) put(name, readableItems(part, depth));
    else if (isObject(part)) put(name, readableBlock(part, depth));
  }
  if (isObject(value.result) && depth === 0) put('result', readableMembers(value.result, 1));
  return changed ?? value;
}

function readableItems(items: readonly unknown[], depth: number): readonly unknown[] {
  let isChanged = false;
  const read = items.map((item) => {
    if (!isObject(item)) return item;
    const block = readableBlock(item, depth);
    if (block !== item) isChanged = true;
    return block;
  });
  return isChanged ? read : items;
}

function readableBlock(block: Record<string, unknown>, depth: number): Record<string, unknown> {
  if (typeof block.blob === 'string') return withText(block, 'blob');
  if (typeof block.data === 'string') return withText(block, 'data');
  if (isObject(block.resource)) {
    const resource = readableBlock(block.resource, depth);
    return resource === block.resource ? block : { ...block, resource };
  }
  return depth < MAX_DEPTH ? readableMembers(block, depth + 1) : block;
}

/** Decodes base64 that encodes text, and leaves out other base64. Anything else stays as it is. */
function withText(block: Record<string, unknown>, name: 'blob' | 'data'): Record<string, unknown> {
  const { [name]: given, ...others } = block;
  const text = given as string;
  if (!isBase64(text.slice(0, SAMPLE))) return block;
  const sample = Buffer.from(text.slice(0, SAMPLE), 'base64');
  // The sample may end within a character.
  const whole = text.length <= SAMPLE ? sample : sample.subarray(0, lastWhole(sample));
  if (!isUtf8(whole) || whole.includes(0)) return others;
  return { ...others, [name]: Buffer.from(text, 'base64').toString('utf8') };
}

/** Where the last UTF-8 character, which may be cut off, begins. */
function lastWhole(bytes: Buffer): number {
  let at = bytes.length - 1;
  while (at > bytes.length - 4 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at--;
  return Math.max(at, 0);
}

function isBase64(text: string): boolean {
  return /^[A-Za-z0-9+/_=\s-]*$/.test(text);
}
