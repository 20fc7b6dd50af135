import type { Exchange } from '../../enforcement/calls.ts';
import { Cancellation, type UpstreamNotification } from '../../upstream/upstream.ts';
import { notificationText } from '../json-rpc.ts';
import { LOG_LEVELS } from '../read-params.ts';
import type { ModernRequest } from './envelope.ts';

/**
 * One request of a modern client on its way: what a server sends before the answer reaches the
 * client as far as it belongs to the request (MCP 2026-07-28, Streamable HTTP, receiving messages).
 */
export class ModernExchange implements Exchange {
  readonly cancellation = new Cancellation();
  readonly wantsProgress: boolean;
  readonly logLevel: string | undefined;
  readonly #request: ModernRequest;
  readonly #notify: (text: string) => void;

  readonly onGone: (listener: () => void) => () => void;

  /**
   * @param notify sends to the client before the answer
   * @param onGone see `Exchange`
   */
  constructor(
    request: ModernRequest,
    notify: (text: string) => void,
    onGone: (listener: () => void) => () => void,
  ) {
    this.#request = request;
    this.#notify = notify;
    this.onGone = onGone;
    this.wantsProgress = request.progressToken !== undefined;
    this.logLevel = request.logLevel;
  }

  onNotification({ method, params }: UpstreamNotification): void {
    if (method === 'notifications/progress') {
      const { progressToken } = this.#request;
      // The server knows the gateway's token; the client knows its own.
      if (progressToken === undefined) return;
      this.#notify(notificationText(method, { ...params, progressToken }));
    } else if (method === 'notifications/message' && this.#isWanted(params?.level)) {
      this.#notify(notificationText(method, params));
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
