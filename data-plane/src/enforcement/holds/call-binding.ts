/** What an approval is bound to: everything that the approver saw must be the same at its use. */
import { createHmac, hash } from 'node:crypto';
import { canonicalize } from '@governance/shared/json/canonical-json';
import { TOOL_CALL } from '../call/call-kinds.ts';
import type { JudgedCall, RawCall } from '../call/calls.ts';
import { findServer } from '../permission/permits.ts';
import type { PinnedTools } from '../pins/pinned-tools.ts';

/** A call, with what its steps have established so far. */
export type KnownCall = RawCall & Partial<JudgedCall>;

/** The digest of a call's binding; undefined when too little is known for an approval. */
export type BindingOf = (call: KnownCall) => string | undefined;

export function createBindingOf(pins: Pick<PinnedTools, 'findSeen'>): BindingOf {
  return ({ caller, agent, ask, rules, ...call }) => {
    const { tenantId, requesterId } = caller;
    const { serverId, method, name, args, retry } = ask;
    const server = findServer(rules ?? null, serverId);
    if (!agent || server === undefined) return undefined;
    const place = { tenantId, serverId, toolName: name };
    const definition = method === TOOL_CALL ? pins.findSeen(place) : null;
    if (definition === undefined) return undefined;
    const bound = {
      agent_id: agent.id,
      requester: call.requester ?? { id: requesterId, verified: false },
      workflow_session_id: call.workflow?.sessionId ?? null,
      delegation_id: call.delegation?.last.id ?? null,
      server_id: serverId,
      server: [server?.transport, server?.url, server?.local_name],
      method,
      tool_name: name,
      definition,
      arguments: hash('sha256', canonicalize(args)),
      retry: retry ? hash('sha256', canonicalize({ ...retry })) : null,
    };
    return hash('sha256', canonicalize(bound));
  };
}

/**
 * The binding for records and facts. It is keyed with the digest of the agent's secret, which all
 * data planes of the tenant have but no chain contains, so that a reader of a chain cannot guess
 * what was asked. It changes when the secret is rotated.
 */
export function sharedBinding(binding: string, { secret_hash }: { secret_hash: string }): string {
  return createHmac('sha256', secret_hash)
    .update(`governance.held-call.v1\n${binding}`)
    .digest('hex');
}
