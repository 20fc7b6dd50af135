/** A held call, or held result, as stored in the ledger: its identity, never its content. */

import { Id } from '@governance/shared/text';
import type { CredentialProof } from '@governance/shared/tokens/agent-token';
import { z } from 'zod';
import type { HoldChange } from '../contracts.ts';
import type { AskedReasons } from './asked-reasons.ts';

const StoredHold = z.strictObject({
  id: Id,
  agent_id: Id,
  /** Digest of everything that an approval is bound to. */
  binding: z.string(),
  /** The names of the reasons (asked-reasons.ts). */
  asked: z.array(z.string()).optional(),
  /** Of earlier versions, which did not store the reasons: none of them counts as asked. */
  policy_ids: z.array(z.string()).optional(),
  /** Absent in rows of results, and of earlier versions. */
  proof: z.strictObject({ credentialId: Id.nullable(), version: z.number() }).optional(),
  /** Unix milliseconds. */
  timeout_at: z.number(),
});

export interface Hold {
  readonly id: string;
  readonly tenantId: string;
  readonly agentId: string;
  readonly binding: string;
  /** What a person is asked. */
  readonly asked: AskedReasons;
  /** The credential that asked; null where it does not matter. */
  readonly proof: CredentialProof | null;
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
export function storeHold({ id, tenantId, agentId, asked, proof, ...hold }: Hold): HoldChange {
  const stored: z.infer<typeof StoredHold> = {
    id,
    agent_id: agentId,
    binding: hold.binding,
    asked: [...asked],
    ...(proof && { proof }),
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
    const { agent_id, asked, proof, timeout_at, ...hold } = StoredHold.parse(JSON.parse(value));
    return {
      id: hold.id,
      tenantId,
      binding: hold.binding,
      agentId: agent_id,
      asked: new Set(asked),
      proof: proof ?? null,
      timeoutAt: timeout_at,
    };
  } catch {
    return undefined;
  }
}
