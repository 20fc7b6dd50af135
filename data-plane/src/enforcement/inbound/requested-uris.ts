/** The URIs that a call asks for: they say of which source its answer is. */
import { TOOL_CALL } from '../call-kinds.ts';
import type { Ask } from '../calls.ts';

/** URIs of one call, and values of its arguments that are looked at. */
const MAX_URIS = 16;
const MAX_VALUES = 1_000;
const MAX_URI = 2_048;
const HAS_SCHEME = /^[A-Za-z][A-Za-z0-9+.-]{0,30}:\/\//;

/**
 * Of a read its URI; of a tool call every argument that is a URI with an authority.
 *
 * @param ask caller-controlled
 */
export function requestedUris({ method, args }: Pick<Ask, 'method' | 'args'>): string[] {
  if (method !== TOOL_CALL) return typeof args.uri === 'string' ? [args.uri] : [];
  const uris: string[] = [];
  const waiting: unknown[] = [args];
  for (let seen = 0; seen < waiting.length && seen < MAX_VALUES; seen++) {
    const value = waiting[seen];
    if (typeof value === 'string') {
      if (value.length <= MAX_URI && HAS_SCHEME.test(value)) uris.push(value);
      if (uris.length >= MAX_URIS) break;
    } else if (typeof value === 'object' && value !== null) {
      const room = MAX_VALUES - waiting.length;
      waiting.push(...Object.values(value).slice(0, Math.max(room, 0)));
    }
  }
  return uris;
}
