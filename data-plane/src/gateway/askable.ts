/**
 * What servers may ask of a client, whatever era of MCP it speaks: the capabilities that it declares
 * for it, the judged call that a question is, and its answer.
 */
import { RPC_ERRORS } from '@governance/shared/errors';
import { uuidv7 } from '@governance/shared/ids';
import { nameOfMethod } from '../enforcement/call-kinds.ts';
import type { RawCall } from '../enforcement/calls.ts';
import { deniedByPolicy } from '../enforcement/denied.ts';
import type { CallAnswer } from '../enforcement/enforcer.ts';
import { errorText, isObject, rawErrorText, resultText } from './json-rpc.ts';

/** Of the call for which a server asks, or of the client's newest request. */
export type AskedFor = Pick<
  RawCall,
  'credential' | 'audienceServerId' | 'sessionId' | 'requesterId' | 'requestId'
>;

/**
 * What of a client's capabilities the gateway passes on to servers; null where that is nothing.
 *
 * @param declared `capabilities` of `initialize`, caller-controlled
 */
export function askableCapabilities(declared: unknown): Record<string, unknown> | null {
  if (!isObject(declared)) return null;
  const { roots, sampling, elicitation } = declared;
  const passed: Record<string, unknown> = {};
  if (isObject(roots)) passed.roots = roots.listChanged === true ? { listChanged: true } : {};
  if (isObject(sampling)) passed.sampling = modes(sampling, ['context', 'tools']);
  if (isObject(elicitation)) passed.elicitation = modes(elicitation, ['form', 'url']);
  return Object.keys(passed).length > 0 ? passed : null;
}

function modes(declared: Record<string, unknown>, names: string[]): Record<string, unknown> {
  return Object.fromEntries(
    names.flatMap((name) => (isObject(declared[name]) ? [[name, {}]] : [])),
  );
}

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

/**
 * What a server asks, as a call of the agent: what comes back leaves it for the server.
 *
 * @param recipient asks the client, once the call was allowed and recorded
 */
export function askedCall(
  parent: AskedFor,
  serverId: string,
  { method, params }: { method: string; params: Record<string, unknown> },
  clock: { now(): number; elapsed(): number },
  recipient: NonNullable<RawCall['recipient']>,
): RawCall {
  const { credential, audienceServerId, sessionId, requesterId, requestId } = parent;
  const { _meta, ...args } = params;
  return {
    id: uuidv7(clock.now()),
    arrivedAt: clock.elapsed(),
    credential,
    audienceServerId,
    serverId,
    method,
    toolName: nameOfMethod(method),
    args,
    sessionId,
    requesterId,
    requestId,
    recipient,
  };
}

/** The response for the server. It learns neither policies nor who the agent is. */
export function answerText(id: string | number, answer: CallAnswer): string | null {
  switch (answer.kind) {
    case 'result':
      return resultText(id, answer.raw);
    case 'upstream-error':
      return rawErrorText(id, answer.raw);
    case 'cancelled':
      return null;
    case 'error': {
      const { code, data } = answer;
      if (data?.failure === 'timeout') {
        return errorText(id, RPC_ERRORS.INTERNAL, 'The client did not answer in time.');
      }
      if (data?.failure !== undefined) {
        return errorText(id, RPC_ERRORS.INTERNAL, 'The client gave no answer.');
      }
      const why = 'The gateway refused the request or its answer.';
      return errorText(
        id,
        code,
        code === RPC_ERRORS.POLICY_DENIED ? deniedByPolicy(why).message : why,
      );
    }
  }
}
