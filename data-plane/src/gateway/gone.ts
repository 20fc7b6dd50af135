import type { ServerResponse } from 'node:http';

/** Tells any number of listeners that the connection of an answer is gone, at once where it is. */
export function createGone(raw: ServerResponse): (listener: () => void) => () => void {
  const listeners = new Set<() => void>();
  let isWatched = false;
  const tell = () => {
    for (const listener of [...listeners]) listener();
  };
  return (listener) => {
    if (raw.destroyed) listener();
    // One listener for all: a batch has many requests.
    if (!isWatched) raw.once('close', tell);
    isWatched = true;
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
}
