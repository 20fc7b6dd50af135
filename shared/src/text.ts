import { z } from 'zod';

/** Whether PostgreSQL, SQLite and canonical JSON can all hold this text unchanged. */
export function isStorableText(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed();
}

/** A text without the slashes at its end. An expression for it tries each run of slashes anew. */
export function withoutTrailingSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === '/') end--;
  return text.slice(0, end);
}

/**
 * The one string type of requests and records: no NUL (PostgreSQL refuses it) and no lone
 * surrogate (it has no UTF-8 form), either of which could stop a queue for ever.
 */
export const Text = z
  .string()
  .refine(isStorableText, 'must not contain a NUL character or a lone surrogate');

/** A time as the product writes it: ISO 8601 UTC with milliseconds. */
export const Timestamp = z.iso.datetime({ precision: 3 });

/** An identifier: a UUID, lower case where we make it. */
export const Id = z.uuid();

/** An epoch of a stream, which PostgreSQL keeps as an integer: a larger one has no row to be in. */
export const Epoch = z.int().positive().max(2_147_483_647);

/** A SHA-256 in lower-case hexadecimal. */
export const Sha256Hex = z.string().regex(/^[0-9a-f]{64}$/);
