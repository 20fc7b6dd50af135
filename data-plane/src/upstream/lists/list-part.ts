/**
 * Part of a server's list, within a budget. A list is as long as its server likes, and each page as
 * large as a message may be: what is read at a time, and of one list in total, is bounded.
 */

import { Cancellation, UpstreamFailure, type UpstreamSession } from '../upstream.ts';
import { type ListedItem, type ListMethod, listPage } from './list-page.ts';

export interface ListBudget {
  items: number;
  /** Bytes of their JSON. */
  bytes: number;
}

const MIB = 1024 * 1024;

/** Limits of one server's list, over all of its pages. */
export const LIST_BUDGETS: Readonly<Record<ListMethod, ListBudget>> = {
  'tools/list': { items: 2_000, bytes: 4 * MIB },
  'resources/list': { items: 10_000, bytes: 16 * MIB },
  'resources/templates/list': { items: 10_000, bytes: 16 * MIB },
  'prompts/list': { items: 10_000, bytes: 16 * MIB },
};

/** Limit of one item. */
const MAX_ITEM_BYTES = MIB;
/** A part is read no longer than this, however many pages it has. */
const PART_MS = 60_000;

/** Where a list continues, and how much of it was read before. */
export interface ListPosition extends ListBudget {
  /** The server's own cursor of the page; undefined for the first. */
  cursor?: string | undefined;
  /** Items of that page that were already returned. */
  skip: number;
}

export const LIST_START: ListPosition = { skip: 0, items: 0, bytes: 0 };

export interface ListPart {
  items: ListedItem[];
  bytes: number;
  /** Where the rest begins; null where there is none, or it is not read. */
  rest: ListPosition | null;
  /** What is left out for good; null where nothing is. */
  leftOut: string | null;
}

export interface PartOptions {
  /** For this part. */
  room: ListBudget;
  /** Pages of the server, at most. */
  pages: number;
  cancellation?: Cancellation | undefined;
  /** See `UpstreamExchange`: asked before each page. */
  findIneligibility?: (() => string | undefined) | undefined;
  /** See `UpstreamExchange`: what all pages take counts as long as the call. */
  hold?: ((bytes: number) => boolean) | undefined;
  /** How long it may take in all. */
  limitMs?: number;
}

/**
 * Reads part of a server's list. A failure after something was read ends the part, unless it is the
 * agent's: nobody gets what was read for one that may not act any more.
 *
 * @throws UpstreamFailure; a JSON-RPC error of the server is a `refused`
 */
export async function readListPart(
  session: Pick<UpstreamSession, 'request'>,
  method: ListMethod,
  from: ListPosition,
  options: PartOptions,
): Promise<ListPart> {
  const own = new Cancellation();
  const timer = setTimeout(() => own.cancel(), options.limitMs ?? PART_MS);
  if (options.cancellation) options.cancellation.onCancel = () => own.cancel();
  try {
    return await readPages(session, method, from, { ...options, cancellation: own });
  } catch (error) {
    const isLate = own.isCancelled && options.cancellation?.isCancelled !== true;
    throw isLate ? new UpstreamFailure('timeout', 'the list did not come in time') : error;
  } finally {
    clearTimeout(timer);
    if (options.cancellation) options.cancellation.onCancel = null;
  }
}

async function readPages(
  session: Pick<UpstreamSession, 'request'>,
  method: ListMethod,
  from: ListPosition,
  { room, pages, cancellation = new Cancellation(), findIneligibility, hold }: PartOptions,
): Promise<ListPart> {
  const part = new Part(method, from, room);
  let { cursor, skip } = from;
  for (let page = 0; page < pages; page++) {
    let listed: Awaited<ReturnType<typeof listPage>>;
    try {
      const exchange = { onNotification: () => undefined, cancellation, findIneligibility, hold };
      listed = await listPage(session, method, cursor, exchange);
    } catch (error) {
      if (page === 0 || isIneligible(error)) throw error;
      return part.end(cursor, 0);
    }
    const taken = part.take(listed.items, skip);
    if (taken < listed.items.length) return part.end(cursor, taken);
    if (listed.nextCursor === undefined) return part.end(undefined, null);
    // A page without items counts as one, or a list of them would never end.
    if (listed.items.length === 0) part.count(1, 0);
    cursor = listed.nextCursor;
    skip = 0;
  }
  return part.end(cursor, 0);
}

function isIneligible(error: unknown): boolean {
  return error instanceof UpstreamFailure && error.kind === 'ineligible';
}

class Part {
  readonly #method: ListMethod;
  readonly #room: ListBudget;
  readonly #items: ListedItem[] = [];
  #bytes = 0;
  #counted: ListBudget;
  #leftOut: string | null = null;

  constructor(method: ListMethod, from: ListBudget, room: ListBudget) {
    this.#method = method;
    this.#room = room;
    this.#counted = { items: from.items, bytes: from.bytes };
  }

  /** @returns the place of the first item for which there was no room */
  take(items: ListedItem[], skip: number): number {
    for (let at = skip; at < items.length; at++) {
      const item = items[at];
      if (item === undefined) continue;
      const size = Buffer.byteLength(JSON.stringify(item));
      if (size > MAX_ITEM_BYTES) {
        this.#leftOut = `${this.#method}: an item of more than ${MAX_ITEM_BYTES} bytes is left out`;
        this.count(1, 0);
        continue;
      }
      if (!this.#hasRoom(size)) return at;
      this.#items.push(item);
      this.#bytes += size;
      this.count(1, size);
    }
    return items.length;
  }

  count(items: number, bytes: number): void {
    this.#counted = { items: this.#counted.items + items, bytes: this.#counted.bytes + bytes };
  }

  /** @param skip null at the end of the list */
  end(cursor: string | undefined, skip: number | null): ListPart {
    const { items, bytes } = this.#counted;
    const budget = LIST_BUDGETS[this.#method];
    let rest: ListPosition | null = skip === null ? null : { cursor, skip, items, bytes };
    // Where not even one more would fit, nothing of the list is read any more.
    if (rest !== null && (items >= budget.items || bytes >= budget.bytes || this.#isSpent)) {
      rest = null;
      this.#leftOut = `${this.#method}: what is beyond ${budget.items} items or ${budget.bytes} bytes is left out`;
    }
    return { items: this.#items, bytes: this.#bytes, rest, leftOut: this.#leftOut };
  }

  #isSpent = false;

  #hasRoom(size: number): boolean {
    const budget = LIST_BUDGETS[this.#method];
    const { items, bytes } = this.#counted;
    if (items >= budget.items || bytes + size > budget.bytes) {
      this.#isSpent = true;
      return false;
    }
    // One item always fits, or a list would never advance.
    if (this.#items.length === 0) return true;
    return this.#items.length < this.#room.items && this.#bytes + size <= this.#room.bytes;
  }
}
