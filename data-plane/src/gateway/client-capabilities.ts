/** What servers are told of a client, and the sessions with servers that follow from it. */
import { RPC_ERRORS } from '@governance/shared/errors';
import type { AgentKey } from '../enforcement/call/calls.ts';
import { isObject } from '../upstream/message.ts';
import type { Era, SessionPeer, UpstreamPeer } from '../upstream/upstream.ts';
import { askableCapabilities } from './client-questions.ts';
import { passedExtensions } from './extensions.ts';
import { errorText } from './json-rpc.ts';

interface DeclaredCapabilities {
  capabilities: Record<string, unknown>;
  /** Whether servers may ask the client something. */
  isAskable: boolean;
}

/**
 * The client capabilities that the gateway passes on to servers; null where there are none.
 *
 * @param declared by the client, caller-controlled
 */
export function declaredCapabilities(declared: unknown, era: Era): DeclaredCapabilities | null {
  if (!isObject(declared)) return null;
  const askable = askableCapabilities(declared);
  const extensions = passedExtensions(declared.extensions, era);
  if (askable === null && extensions === null) return null;
  const capabilities = { ...askable, ...(extensions && { extensions }) };
  return { capabilities, isAskable: askable !== null };
}

/**
 * The peer of all clients of an agent that declare just these extensions and can be asked nothing:
 * a server decides by its client's extensions what it lists, so they share no session with others.
 */
export function sharedPeer(agent: AgentKey, capabilities: Record<string, unknown>): UpstreamPeer {
  const id = `extensions ${agent} ${JSON.stringify(capabilities)}`;
  const bound: SessionPeer = {
    capabilities,
    ask: async ({ id, method }) =>
      errorText(id, RPC_ERRORS.METHOD_NOT_FOUND, `The client does not support ${method}.`),
    withdraw: () => undefined,
    abandon: () => undefined,
  };
  return { id, capabilities, isShared: true, bind: () => bound };
}
