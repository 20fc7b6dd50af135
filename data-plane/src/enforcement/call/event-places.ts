import { LRUCache } from 'lru-cache';

/** Events kept in memory. The place of an older parent is known only to the control plane. */
const REMEMBERED = 50_000;

export interface EventPlace {
  tenantId: string;
  sessionId: string | null;
  depth: number;
}

/** The places of this data plane's newest events in their workflow sessions, by id. */
export type EventPlaces = Pick<LRUCache<string, EventPlace>, 'get' | 'set'>;

export const createEventPlaces = (): EventPlaces => new LRUCache({ max: REMEMBERED });
