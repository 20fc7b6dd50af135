import type { Exchange } from '../../enforcement/calls.ts';
import { LOG_LEVELS } from '../../upstream/message.ts';
import { Cancellation } from '../../upstream/upstream.ts';
import type { PostAnswer } from '../answer.ts';
import { notificationText } from '../json-rpc.ts';
import type { ModernRequest } from './envelope.ts';

/**
 * One request of a modern client in progress: messages that a server sends before the answer reach
 * the client if they belong to the request (MCP 2026-07-28, Streamable HTTP, receiving messages).
 */
export function modernExchange(
  { progressToken, logLevel }: Pick<ModernRequest, 'progressToken' | 'logLevel'>,
  answer: Pick<PostAnswer, 'notify' | 'onGone'>,
): Exchange {
  /** Without a level in the request there are no log messages. */
  const isWanted = (level: unknown) => {
    if (logLevel === undefined) return false;
    const rank = (LOG_LEVELS as readonly unknown[]).indexOf(level);
    return rank < 0 || rank >= LOG_LEVELS.indexOf(logLevel);
  };
  return {
    cancellation: new Cancellation(),
    wantsProgress: progressToken !== undefined,
    logLevel,
    onGone: (listener) => answer.onGone(listener),
    onNotification({ method, params }) {
      if (method === 'notifications/progress') {
        // The server knows the gateway's token; the client knows its own.
        if (progressToken === undefined) return;
        answer.notify(notificationText(method, { ...params, progressToken }));
      } else if (method === 'notifications/message' && isWanted(params?.level)) {
        answer.notify(notificationText(method, params));
      }
    },
  };
}
