/** A set of listeners; each is called until it unsubscribes. */
export function createListeners<News extends unknown[]>() {
  const listeners = new Set<(...news: News) => void>();
  return {
    notify: (...news: News): void => {
      for (const listener of listeners) listener(...news);
    },
    /** @returns the unsubscribe */
    add: (listener: (...news: News) => void): (() => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
