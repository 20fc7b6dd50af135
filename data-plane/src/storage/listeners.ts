/** Those who want to be told of something, until they end it. */
export function createListeners<Told extends unknown[]>() {
  const listeners = new Set<(...told: Told) => void>();
  return {
    tell: (...told: Told): void => {
      for (const listener of listeners) listener(...told);
    },
    /** @returns ends the telling */
    add: (listener: (...told: Told) => void): (() => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
