/** A client of the audit stream that resumes after a reconnect, as a browser does. */
import { createParser } from 'eventsource-parser';

export interface EventReader {
  /** The data of each event that has an id, in the order of arrival. */
  events: string[];
  /** Number of connections made. */
  connections(): number;
  stop(): Promise<void>;
}

export function readEvents(url: string, token: string): EventReader {
  const events: string[] = [];
  let last: string | undefined;
  const stopping = new AbortController();
  let connections = 0;

  async function connectOnce(): Promise<void> {
    const response = await fetch(url, {
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'text/event-stream',
        ...(last === undefined ? {} : { 'last-event-id': last }),
      },
      signal: stopping.signal,
    });
    if (!response.ok || !response.body) throw new Error(`the stream answered ${response.status}`);
    connections++;
    const parser = createParser({
      onEvent: ({ id, data }) => {
        if (id === undefined) return;
        last = id;
        events.push(data);
      },
    });
    const decoder = new TextDecoder();
    for await (const chunk of response.body) parser.feed(decoder.decode(chunk, { stream: true }));
  }

  const running = (async () => {
    while (!stopping.signal.aborted) {
      await connectOnce().catch(() => undefined);
      if (!stopping.signal.aborted) await new Promise((resolve) => setTimeout(resolve, 50));
    }
  })();
  return {
    events,
    connections: () => connections,
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
