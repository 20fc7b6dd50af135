/**
 * Responses on a session's own stream (GET). MCP wants them in the answer to the POST, but some
 * servers accept a request (202, or an empty 200) and answer there. A response is taken for a
 * request of the same session that is under way, once; its share bounds their number. Proven by
 * stream-answers.test.ts.
 */
import { requestText } from '../initialize.ts';
import type { UpstreamMessage } from '../message.ts';
import { ownExchange, UpstreamFailure, type UpstreamNotification } from '../upstream.ts';
import type { HttpChannel } from './http-channel.ts';
import { HttpRequest, type HttpRequestLimits, ONLY_TAKEN } from './http-request.ts';

/** How long a session waits for what a ping shows. */
const PING_MS = 5000;
const PING = { method: 'ping', members: '', wantsProgress: false };

export class StreamAnswers {
  /** The requests of the session whose answer is waited for, by their ids. */
  readonly underWay = new Map<number, HttpRequest>();
  /** The server was seen to accept a request without an answer. */
  isExpected = false;
  /** The server has no such stream (405). */
  isStreamRefused = false;

  /** Hands over a response from the stream. One that nobody waits for is dropped. */
  take({ id, answer }: Extract<UpstreamMessage, { kind: 'response' }>): void {
    if (typeof id === 'number') this.underWay.get(id)?.answerOnStream(answer);
  }

  /** Progress that comes along with such a response. @returns false where it is of none */
  takeProgress(notification: UpstreamNotification): boolean {
    const token = notification.params?.progressToken;
    if (notification.method !== 'notifications/progress' || typeof token !== 'number') return false;
    return this.underWay.get(token)?.progressOnStream(notification) ?? false;
  }

  /** Fails what waits for the stream, which has ended. @param status 0 without an answer */
  end(status: number, error: UpstreamFailure | null): void {
    const hadStream = status >= 200 && status < 300;
    const why = hadStream ? "the session's stream ended without the response" : ONLY_TAKEN;
    const failure = error ?? new UpstreamFailure('malformed', why);
    for (const request of [...this.underWay.values()]) request.streamEnded(failure);
  }

  /**
   * Learns where the server answers, before a call could be lost for want of a stream. Whatever a
   * ping gets otherwise says nothing. Never rejects.
   */
  async learn(
    channel: HttpChannel,
    headers: string[],
    id: number,
    limits: HttpRequestLimits,
  ): Promise<void> {
    const timeoutMs = Math.min(PING_MS, limits.timeoutMs ?? PING_MS);
    const ping = new HttpRequest(
      id,
      ownExchange(),
      { ...limits, timeoutMs },
      {
        refused: () => undefined,
        accepted: () => {
          this.isExpected = true;
          return false;
        },
        done: (ended) => channel.untrack(ended),
      },
    );
    const sent = channel.send('calls', headers, requestText(id, PING), ping);
    await sent.catch(() => undefined);
  }
}
