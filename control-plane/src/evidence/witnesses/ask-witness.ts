/** One request to a witness (C2SP tlog-witness), bounded in time and size, without redirects. */
import { parseTreeSize } from '@governance/shared/evidence/witness-protocol';
import type { OutboundClient } from '@governance/shared/outbound/outbound-client';

const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;

export type WitnessAnswer =
  | { kind: 'cosigned'; lines: string }
  | { kind: 'conflict'; size: number }
  | { kind: 'refused'; why: string };

/**
 * @param url its submission prefix, as the operator configured it
 * @returns cosignature lines, not yet verified; no other text of the witness, which is untrusted
 * @throws Error when nothing answers, or the answer breaks the protocol
 */
export async function askWitness(
  outbound: OutboundClient,
  url: string,
  body: string,
  ending: AbortSignal,
): Promise<WitnessAnswer> {
  const { status, text } = await outbound.post({
    url: `${url}/add-checkpoint`,
    body,
    headers: { 'content-type': 'text/plain', 'user-agent': 'agent-governance-service' },
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_ANSWER_BYTES,
    signal: ending,
  });
  switch (status) {
    case 200:
      return { kind: 'cosigned', lines: text };
    case 409:
      return { kind: 'conflict', size: parseTreeSize(text) };
    case 403:
      return { kind: 'refused', why: 'it does not know the key of the log (403)' };
    case 404:
      return { kind: 'refused', why: 'it does not know the log (404)' };
    case 422:
      return { kind: 'refused', why: 'the log does not continue what it cosigned (422)' };
    default:
      return { kind: 'refused', why: `it answered ${status}` };
  }
}
