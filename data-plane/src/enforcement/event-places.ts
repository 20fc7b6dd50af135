import { LRUCache } from 'lru-cache';

/** Events that are remembered; of a parent that is forgotten the control plane knows the place. */
const REMEMBERED = 50_000;

export interface EventPlace {
  tenantId: string;
  sessionId: string | null;
  depth: number;
}

/** Where the newest events of this data plane stand in their workflow sessions, by their ids. */
export type EventPlaces = Pick<LRUCache<string, EventPlace>, 'get' | 'set'>;

export const createEventPlaces = (): EventPlaces => new LRUCache({ max: REMEMBERED });
