/**
 * The lists of all servers as one, page by page. Each server gets a part of a page, so that none
 * crowds out the others; what one leaves free goes to those after it, and then to those that have
 * more.
 */

import type { Caller } from '../enforcement/call/calls.ts';
import type { ListMethod } from '../upstream/lists/list-page.ts';
import type { ListBudget, ListPart } from '../upstream/lists/list-part.ts';
import { Cancellation } from '../upstream/upstream.ts';
import { isKeepable, type ListCursors, type ListPlace } from './list-cursors.ts';
import type { ListNotes } from './list-notes.ts';

export interface JoinedPart<T> extends Pick<ListPart, 'bytes' | 'rest'> {
  /** The items as they are shown. */
  items: T[];
  /** How many were read. */
  count: number;
}

/** One page of a joined list. */
const PAGE_ROOM: ListBudget = { items: 2_000, bytes: 4 * 1024 * 1024 };
/** Servers asked concurrently. */
const WAVE = 8;
/** How often servers that had more than their part are asked again. */
const ROUNDS = 3;

/**
 * Reads one page.
 *
 * @param read of one server; null where nothing of it can be shown now
 * @returns the items, and where the next page starts
 */
export async function readJoined<T>(
  places: readonly ListPlace[],
  read: (place: ListPlace, room: ListBudget) => Promise<JoinedPart<T> | null>,
  rounds = ROUNDS,
): Promise<{ items: T[]; rest: ListPlace[] }> {
  const found = new Map<string, T[]>(places.map(({ serverId }) => [serverId, []]));
  const left = { ...PAGE_ROOM };
  let todo = [...places];
  for (let round = 0; round < rounds && todo.length > 0; round++) {
    const rest: ListPlace[] = [];
    while (todo.length > 0) {
      const room = share(left, todo.length);
      const wave = todo.slice(0, WAVE);
      if (room === null) break;
      todo = todo.slice(WAVE);
      const parts = await Promise.all(wave.map((place) => read(place, room)));
      for (const [index, part] of parts.entries()) {
        const serverId = wave[index]?.serverId ?? '';
        if (part === null) continue;
        found.get(serverId)?.push(...part.items);
        left.items -= part.count;
        left.bytes -= part.bytes;
        if (part.rest !== null) rest.push({ serverId, at: part.rest });
      }
    }
    const isFull = todo.length > 0;
    todo = [...rest, ...todo];
    if (isFull) break;
  }
  return { items: [...found.values()].flat(), rest: todo };
}

/** The cursor of what is left; undefined where there is nothing. */
export function sealRest(
  { cursors, notes }: { cursors: ListCursors; notes: ListNotes },
  caller: Caller,
  method: ListMethod,
  rest: readonly ListPlace[],
): string | undefined {
  const kept = rest.filter((place) => {
    const isKept = isKeepable(place, rest.length);
    const leftOut = `${method}: what is behind a cursor of more than the usual length is left out`;
    if (!isKept) notes.put(caller.tenantId, place.serverId, method, leftOut);
    return isKept;
  });
  return kept.length > 0 ? cursors.seal(caller, method, kept) : undefined;
}

/** Fans one cancellation out to many requests, since each takes one listener. */
export function together(all: Cancellation): () => Cancellation {
  const parts = new Set<Cancellation>();
  all.onCancel = () => {
    for (const part of parts) part.cancel();
  };
  return () => {
    const part = new Cancellation();
    if (all.isCancelled) part.cancel();
    parts.add(part);
    return part;
  };
}

function share({ items, bytes }: ListBudget, servers: number): ListBudget | null {
  const part = { items: Math.floor(items / servers), bytes: Math.floor(bytes / servers) };
  // When the shares become too small, the next page continues.
  if (items < 1 || bytes < 1024) return null;
  return { items: Math.max(part.items, 1), bytes: Math.max(part.bytes, 1) };
}
