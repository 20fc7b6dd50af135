import { LRUCache } from 'lru-cache';

/** Events that are remembered; of a parent that is forgotten the control plane knows the place. */
const REMEMBERED = 50_000;

export interface EventPlace {
  tenantId: string;
  sessionId: string | null;
  depth: number;
}

export interface EventPlaces {
  note(eventId: string, place: EventPlace): void;
  find(eventId: string): EventPlace | undefined;
}

/** Remembers where the newest events of this data plane stand in their workflow sessions. */
export function createEventPlaces(): EventPlaces {
  const places = new LRUCache<string, EventPlace>({ max: REMEMBERED });
  return {
    note: (eventId, place) => void places.set(eventId, place),
    find: (eventId) => places.get(eventId.toLowerCase()),
  };
}
