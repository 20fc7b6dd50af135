/**
 * The text that the injection scan reads of a server's message: images and sounds are left out, and
 * base64 that encodes text, or bytes with text in them, is decoded. Places in findings stay those of
 * the original value.
 */
import { isUtf8 } from 'node:buffer';
import { isObject } from '../../upstream/message.ts';

/** Members of results that hold content blocks, resources or messages. */
export const HOLDING = ['content', 'contents', 'messages'] as const;
const NO_BASE64 = /[^A-Za-z0-9+/_=\s-]/;
/** Readers differ in what they make of what is behind the padding. */
const BEHIND_PADDING = /=\s*[^=\s]/;
/** Bytes of an image or a sound that decide whether it is text. */
const SAMPLE = 3_072;
/** An image that is text (SVG) is none here. */
const IMAGE_OR_SOUND = /^\s*(?:image|audio|video)\/(?![^;]*(?:xml|svg))/i;
const CHARSET = /;\s*charset\s*=\s*"?([\w.:-]{1,40})/i;
/** Characters of text among other bytes. By chance, hardly any data has that many in a row. */
const MIN_RUN = 24;
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

/**
 * Decodes base64 that encodes text, or has text in it, and leaves out other base64. Anything else
 * stays as it is.
 */
function withText(block: Record<string, unknown>, name: 'blob' | 'data'): Record<string, unknown> {
  const { [name]: given, ...others } = block;
  const text = given as string;
  if (NO_BASE64.test(text) || BEHIND_PADDING.test(text)) return block;
  const bytes = Buffer.from(text, 'base64');
  if (isText(bytes)) return { ...others, [name]: bytes.toString('utf8') };
  const mimeType = typeof block.mimeType === 'string' ? block.mimeType : '';
  const start = bytes.subarray(0, SAMPLE);
  if (IMAGE_OR_SOUND.test(mimeType) && !isText(start.subarray(0, lastWhole(start)))) return others;
  const found = textsIn(bytes, mimeType);
  return found === '' ? others : { ...others, [name]: found };
}

function isText(bytes: Buffer): boolean {
  return isUtf8(bytes) && !bytes.includes(0);
}

/** Where the last UTF-8 character, which may be cut off, begins. */
function lastWhole(bytes: Buffer): number {
  let at = bytes.length - 1;
  while (at > bytes.length - 4 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at--;
  return Math.max(at, 0);
}

/** The texts in bytes that are no UTF-8: as readers see it that skip what they cannot read. */
function textsIn(bytes: Buffer, mimeType: string): string {
  const texts = [bytes.toString('utf8')];
  const coding = wideCodingOf(bytes) ?? CHARSET.exec(mimeType)?.[1];
  if (coding !== undefined) texts.push(decoded(bytes, coding));
  return texts.flatMap(runsIn).join('\n');
}

/** UTF-16 with a mark. Without one, its Latin letters are read as if nothing were between them. */
function wideCodingOf([first, second]: Buffer): string | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined;
}

function decoded(bytes: Buffer, coding: string): string {
  try {
    return new TextDecoder(coding).decode(bytes);
  } catch {
    // No coding that this process knows.
    return '';
  }
}

/**
 * Runs of characters that can be shown. One that cannot, alone among them, does not end a run: it
 * may stand for a letter of another coding. NUL counts as nothing.
 */
function runsIn(text: string): string[] {
  const runs: string[] = [];
  let from = 0;
  let shown = 0;
  let isBroken = true;
  const end = (to: number) => {
    if (shown >= MIN_RUN) runs.push(text.slice(from, to).replaceAll('\0', ''));
    shown = 0;
  };
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0) continue;
    if (isShown(code)) {
      if (shown === 0) from = at;
      shown += 1;
      isBroken = false;
    } else if (isBroken) end(at);
    else isBroken = true;
  }
  end(text.length);
  return runs;
}

function isShown(code: number): boolean {
  if (code < 0x20) return code === 0x09 || code === 0x0a || code === 0x0d;
  return (code < 0x7f || code > 0x9f) && code !== 0xfffd;
}
