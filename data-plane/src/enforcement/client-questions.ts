/** What servers may ask of a client, and the call of its agent that a question is. */
import { isObject } from '../upstream/message.ts';
import { nameOfMethod } from './call-kinds.ts';
import type { Ask } from './calls.ts';

/**
 * Whether a client that declared these capabilities can be asked this.
 *
 * @param params of the server's request, as it wrote them
 */
export function canAnswer(
  { roots, sampling, elicitation }: Record<string, unknown>,
  method: string,
  params: Record<string, unknown>,
): boolean {
  switch (method) {
    case 'roots/list':
      return roots !== undefined;
    case 'sampling/createMessage': {
      const wantsTools = params.tools !== undefined || params.toolChoice !== undefined;
      return isObject(sampling) && (!wantsTools || sampling.tools !== undefined);
    }
    case 'elicitation/create':
      if (!isObject(elicitation)) return false;
      if (params.mode === 'url') return elicitation.url !== undefined;
      // Before 2025-11-25 there was but one mode, and no name for it.
      return elicitation.form !== undefined || elicitation.url === undefined;
    default:
      return false;
  }
}

/** A question as a call of the agent: what comes back leaves the agent for the server. */
export function askOf(serverId: string, method: string, params: Record<string, unknown>): Ask {
  const { _meta, ...args } = params;
  return { serverId, method, name: nameOfMethod(method), args };
}
