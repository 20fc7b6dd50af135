/** A held call, or held result, as stored in the ledger: its identity, never its content. */
import { Id } from '@governance/shared/text';
import { z } from 'zod';
import type { HoldChange } from '../contracts.ts';

const StoredHold = z.strictObject({
  id: Id,
  agent_id: Id,
  /** Digest of everything that an approval is bound to. */
  binding: z.string(),
  /** The policies for whose reasons a person is asked. */
  policy_ids: z.array(z.string()),
  /** Unix milliseconds. */
  timeout_at: z.number(),
});

export interface Hold {
  readonly id: string;
  readonly tenantId: string;
  readonly agentId: string;
  readonly binding: string;
  readonly policyIds: ReadonlySet<string>;
  readonly timeoutAt: number;
}

const OF_RESULT = 'result:';

/** The binding of the result of a call. @param binding of the call */
export function bindingOfResult(binding: string): string {
  return `${OF_RESULT}${binding}`;
}

/** Whether the result of a call is held, and not the call. */
export function isOfResult({ binding }: Pick<Hold, 'binding'>): boolean {
  return binding.startsWith(OF_RESULT);
}

/** The change that writes its row. */
export function storeHold({ id, tenantId, agentId, policyIds, ...hold }: Hold): HoldChange {
  const stored: z.infer<typeof StoredHold> = {
    id,
    agent_id: agentId,
    binding: hold.binding,
    policy_ids: [...policyIds],
    timeout_at: hold.timeoutAt,
  };
  return { id, tenantId, value: JSON.stringify(stored) };
}

/** The change that removes its row: it was used, or has ended. */
export function removeHold({ id, tenantId }: Pick<Hold, 'id' | 'tenantId'>): HoldChange {
  return { id, tenantId, value: null };
}

/** Reads a row back. @returns undefined when it is malformed: the call is then no longer held */
export function readHold(tenantId: string, value: string): Hold | undefined {
  try {
    const { id, agent_id, binding, policy_ids, timeout_at } = StoredHold.parse(JSON.parse(value));
    const policyIds = new Set(policy_ids);
    return { id, tenantId, agentId: agent_id, binding, policyIds, timeoutAt: timeout_at };
  } catch {
    return undefined;
  }
}
