/**
 * What a replay reads from a recorded decision: whether policy decided it, and the policy input. A
 * decision with anything unknown is skipped; nothing is guessed.
 */
import { payloadDigest } from '@governance/shared/evidence/event-payload';
import { z } from 'zod';
import type { DataKey } from '../key-management/data-keys.ts';
import { decryptUnder } from '../key-management/data-keys.ts';
import { payloadContext } from '../payloads/payload-store.ts';
import { type Recorded, type Skip, Verdict } from './replay-result.ts';
import type { DecisionRow } from './replay-store.ts';

/** The fields of a decision's record that are read here, in any version of the record. */
const Decision = z.object({
  timestamp: z.string(),
  agent_id: z.string(),
  method: z.string(),
  mcp_server: z.string(),
  tool_name: z.string(),
  policy_result: z.string(),
  policy_reason: z.string().nullable(),
  decided_by: z.string(),
  grant_id: z.string().nullable().optional(),
  exception_id: z.string().nullable().optional(),
  payload_digest: z.string().nullable().optional(),
});

const Stored = z.object({ salt: z.string(), text: z.string() });

export type Found =
  | { kind: 'skip'; why: Skip }
  | { kind: 'decision'; recorded: Recorded; digest: string };

/** Reads a decision's record. */
export function readDecision({ id, bytes, ciphertext, event_time }: DecisionRow): Found {
  const record = parseDecision(bytes);
  if (!record) return skip('input_unreadable');
  const result = Verdict.safeParse(record.policy_result).data;
  if (result === undefined || !isByPolicy(record)) return skip('not_by_policy');
  const digest = record.payload_digest ?? null;
  if (digest === null || ciphertext === null) return skip('no_input');
  const { agent_id, mcp_server, tool_name, policy_reason: reason } = record;
  const timestamp = event_time.toISOString();
  const recorded = { id, timestamp, agent_id, mcp_server, tool_name, result, reason };
  return { kind: 'decision', digest, recorded };
}

function parseDecision(bytes: Uint8Array): z.infer<typeof Decision> | undefined {
  try {
    return Decision.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
  } catch {
    return undefined;
  }
}

const skip = (why: Skip) => ({ kind: 'skip', why }) as const;

/** The data plane's step that evaluates the policies. */
const POLICY_STEP = 'policy';
/**
 * The prefix of a reason that is passed on through that step: the blast radius asks for a person
 * although policy allows the call.
 */
const CARRIED = 'Blast radius: ';

function isByPolicy(record: z.infer<typeof Decision>): boolean {
  const { decided_by, grant_id, exception_id, policy_result, policy_reason: reason } = record;
  // Policies do not decide lists.
  if (decided_by !== POLICY_STEP || record.method.endsWith('/list')) return false;
  // A person decided.
  if (grant_id || exception_id) return false;
  const isCarried = reason?.startsWith(CARRIED) || reason?.includes(`; ${CARRIED}`);
  return !(policy_result === 'escalate' && isCarried);
}

/** What data protection writes in place of what it removed. */
const MARKS = /\[REDACTED[\]:]|hid1:/;

/**
 * Decrypts the policy input and compares it with the chain.
 *
 * @returns JSON, or why it cannot be used
 */
export function openInput(
  { id, ciphertext }: DecisionRow,
  { tenantId, key, digest }: { tenantId: string; key: DataKey | undefined; digest: string },
): { kind: 'input'; text: string } | { kind: 'skip'; why: Skip } {
  if (!key || !ciphertext) return skip('input_unreadable');
  try {
    const plaintext = decryptUnder(key, ciphertext, payloadContext(tenantId, id, 'input'));
    const { salt, text } = Stored.parse(JSON.parse(plaintext.toString('utf8')));
    if (payloadDigest(Buffer.from(salt, 'base64url'), text) !== digest) {
      return skip('input_unreadable');
    }
    return MARKS.test(text) ? skip('input_altered') : { kind: 'input', text };
  } catch {
    return skip('input_unreadable');
  }
}
