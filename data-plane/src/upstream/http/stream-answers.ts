/**
 * Responses on a session's own stream (GET). MCP wants them in the answer to the POST, but some
 * servers accept a request (202, or an empty 200) and answer there. A response is taken for a
 * request of the same session that is under way, once; its share bounds their number. Proven by
 * stream-answers.test.ts.
 */
import { inTime } from '@governance/shared/time/in-time';
import { requestText } from '../initialize.ts';
import type { UpstreamMessage } from '../message.ts';
import { isTimeout, ownExchange, UpstreamFailure, type UpstreamNotification } from '../upstream.ts';
import type { HttpChannel } from './http-channel.ts';
import { HttpRequest, type HttpRequestLimits, ONLY_TAKEN } from './http-request.ts';

/** How long a server has to answer a ping, and how long nothing else is done meanwhile. */
const PING_MS = 5000;
const QUICK_MS = 500;
const PING = { method: 'ping', members: '', wantsProgress: false };

export class StreamAnswers {
  /** The requests of the session whose answer is waited for, by their ids. */
  readonly underWay = new Map<number, HttpRequest>();
  /** The server was seen to accept a request without an answer. */
  isExpected = false;
  /** Neither a ping nor a call has shown it yet. */
  isUnsure = false;
  /** The ping has shown what it could. */
  pinged: Promise<unknown> = Promise.resolve();
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

  /**
   * Fails what waits for the stream, which has ended.
   *
   * @param status 0 without an answer
   * @param isResumed it was asked for the rest of a stream
   */
  ended(status: number, error: UpstreamFailure | null, isResumed: boolean): void {
    if (error !== null) this.fail(error);
    else if (status >= 200 && status < 300) {
      this.fail(
        new UpstreamFailure('malformed', "the session's stream ended without the response"),
      );
    } else if (!isResumed) this.fail(new UpstreamFailure('malformed', ONLY_TAKEN));
    else {
      const kind = status === 404 || status >= 500 ? 'unreachable' : 'malformed';
      const why = `the session's stream was cut, and not resumed (HTTP ${status})`;
      this.fail(new UpstreamFailure(kind, why));
    }
  }

  /** Fails what waits for the stream. */
  fail(failure: UpstreamFailure): void {
    for (const request of [...this.underWay.values()]) request.streamEnded(failure);
  }

  /**
   * Learns where the server answers, before a call could be lost for want of a stream. An error says
   * nothing. A server that takes its time is unsure until its first answer. Never rejects.
   *
   * @param onLearned called when a server that was unsure has answered a ping
   */
  async learn(
    channel: HttpChannel,
    headers: string[],
    id: number,
    limits: HttpRequestLimits,
    onLearned: () => void,
  ): Promise<void> {
    const timeoutMs = Math.min(PING_MS, limits.timeoutMs ?? PING_MS);
    let isSilent = false;
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
    this.pinged = channel.send('calls', headers, requestText(id, PING), ping).catch((error) => {
      isSilent = isTimeout(error);
    });
    await inTime(this.pinged, QUICK_MS, () => {
      this.isUnsure = true;
      void this.pinged.then(() => {
        if (!isSilent) onLearned();
      });
    });
  }
}
