import type { Exchange } from '../../enforcement/calls.ts';
import { LOG_LEVELS } from '../../upstream/message.ts';
import { Cancellation, type UpstreamNotification } from '../../upstream/upstream.ts';
import type { PostAnswer } from '../answer.ts';
import { notificationText } from '../json-rpc.ts';
import type { ModernRequest } from './envelope.ts';

/**
 * One request of a modern client in progress: messages that a server sends before the answer reach
 * the client if they belong to the request (MCP 2026-07-28, Streamable HTTP, receiving messages).
 */
export class ModernExchange implements Exchange {
  readonly cancellation = new Cancellation();
  readonly wantsProgress: boolean;
  readonly logLevel: string | undefined;
  readonly #request: ModernRequest;
  readonly #answer: Pick<PostAnswer, 'notify' | 'onGone'>;

  constructor(request: ModernRequest, answer: Pick<PostAnswer, 'notify' | 'onGone'>) {
    this.#request = request;
    this.#answer = answer;
    this.wantsProgress = request.progressToken !== undefined;
    this.logLevel = request.logLevel;
  }

  onGone(listener: () => void): () => void {
    return this.#answer.onGone(listener);
  }

  onNotification({ method, params }: UpstreamNotification): void {
    if (method === 'notifications/progress') {
      const { progressToken } = this.#request;
      // The server knows the gateway's token; the client knows its own.
      if (progressToken === undefined) return;
      this.#answer.notify(notificationText(method, { ...params, progressToken }));
    } else if (method === 'notifications/message' && this.#isWanted(params?.level)) {
      this.#answer.notify(notificationText(method, params));
    }
  }

  /** Without a level in the request there are no log messages. */
  #isWanted(level: unknown): boolean {
    const { logLevel } = this.#request;
    if (logLevel === undefined) return false;
    const rank = (LOG_LEVELS as readonly unknown[]).indexOf(level);
    return rank < 0 || rank >= LOG_LEVELS.indexOf(logLevel);
  }
}
