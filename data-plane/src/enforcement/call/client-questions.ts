/** Questions of servers to a client, as calls of its agent. */
import { isObject } from '../../upstream/message.ts';
import { nameOfMethod } from './call-kinds.ts';
import type { Ask } from './calls.ts';

/**
 * Whether a client with these capabilities can be asked this.
 *
 * @param params of the server's request, as received
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
      // Before 2025-11-25 there was only one mode, without a name.
      return elicitation.form !== undefined || elicitation.url === undefined;
    default:
      return false;
  }
}

/** A question as a call of the agent: the reply leaves the agent for the server. */
export function askOf(serverId: string, method: string, params: Record<string, unknown>): Ask {
  const { _meta, ...args } = params;
  return { serverId, method, name: nameOfMethod(method), args };
}
