/**
 * The list cursors given to clients: where each server's list continues, and how much of it was
 * read before. They are sealed for one agent, one path and one method, at this data plane (all its
 * workers have the key), since a client could otherwise write its own budget.
 */
import type { KeyObject } from 'node:crypto';
import { isStorableText } from '@governance/shared/text';
import { z } from 'zod';
import type { Caller } from '../enforcement/call/calls.ts';
import type { ListMethod } from '../upstream/lists/list-page.ts';
import type { ListPosition } from '../upstream/lists/list-part.ts';
import { isObject } from '../upstream/message.ts';
import { badParams } from './call-routing.ts';
import { createSeals } from './seals.ts';

/** The place in one server's list. */
export interface ListPlace {
  serverId: string;
  at: ListPosition;
}

/** Characters of a cursor, at most: it has a place for each server with more items. */
const MAX_CURSOR = 512 * 1024;
/** Characters in it for all servers' own cursors together, and for a single one. */
const MAX_SERVER_CURSORS = 192 * 1024;
const MAX_SERVER_CURSOR = 4096;

const Count = z.int().nonnegative();
const Places = z
  .array(z.tuple([z.string(), z.string().nullable(), Count, Count, Count]))
  .min(1)
  .max(1000);

export type ListCursors = ReturnType<typeof createListCursors>;

/**
 * Builds them.
 *
 * @param secret this data plane's own; the seals become invalid with it
 */
export function createListCursors(secret: KeyObject) {
  const { sealOf, isSealed } = createSeals(secret, 'mcp list cursors');
  const contentOf = ({ tenantId, agent, serverId }: Caller, method: ListMethod, text: string) => [
    tenantId,
    agent.id,
    serverId,
    method,
    text,
  ];

  return {
    /** A cursor of these places, of which there is at least one. */
    seal(caller: Caller, method: ListMethod, places: readonly ListPlace[]): string {
      const tuples = places.map(({ serverId, at }) => [
        serverId,
        at.cursor ?? null,
        at.skip,
        at.items,
        at.bytes,
      ]);
      const text = Buffer.from(JSON.stringify(tuples)).toString('base64url');
      return `${text}.${sealOf(contentOf(caller, method, text))}`;
    },

    /**
     * The places of the cursor in a request's params; undefined for the first page.
     *
     * @throws GatewayError -32602 if it does not belong to this agent and list
     */
    find(caller: Caller, method: ListMethod, params: unknown): ListPlace[] | undefined {
      const cursor = readCursor(params);
      if (cursor === undefined) return undefined;
      const [text = '', seal = ''] = cursor.split('.', 2);
      if (!isSealed(contentOf(caller, method, text), seal)) {
        throw badParams('cursor is not of this list: start again without it');
      }
      const places = Places.parse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')));
      return places.map(([serverId, own, skip, items, bytes]) => ({
        serverId,
        at: { cursor: own ?? undefined, skip, items, bytes },
      }));
    },
  };
}

function readCursor(params: unknown): string | undefined {
  const cursor = isObject(params) ? params.cursor : undefined;
  if (cursor === undefined) return undefined;
  if (typeof cursor !== 'string' || cursor.length > MAX_CURSOR || !isStorableText(cursor)) {
    throw badParams('cursor must be a text');
  }
  return cursor;
}

/** Whether a server's own cursor is short enough to be kept beside those of the other servers. */
export function isKeepable({ at }: ListPlace, places: number): boolean {
  const max = Math.min(MAX_SERVER_CURSOR, Math.floor(MAX_SERVER_CURSORS / places));
  return (at.cursor?.length ?? 0) <= max;
}
