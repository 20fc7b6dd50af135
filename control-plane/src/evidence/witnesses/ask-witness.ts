/** One request to a witness (C2SP tlog-witness): bounded in time and size, redirects not followed. */
import { parseTreeSize } from '@governance/shared/evidence/witness-protocol';

const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;

export type WitnessAnswer =
  | { kind: 'cosigned'; lines: string }
  | { kind: 'conflict'; size: number }
  | { kind: 'refused'; why: string };

/**
 * @param url its submission prefix, as the operator configured it
 * @returns never what the witness said in words: it may be anything
 * @throws Error where nothing answers, or no answer of the protocol
 */
export async function askWitness(
  url: string,
  body: string,
  ending: AbortSignal,
): Promise<WitnessAnswer> {
  const response = await fetch(`${url}/add-checkpoint`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'text/plain', 'user-agent': 'agent-governance-service' },
    // A redirect would lead to an address that nobody configured.
    redirect: 'manual',
    signal: AbortSignal.any([ending, AbortSignal.timeout(TIMEOUT_MS)]),
  });
  const text = await readText(response);
  switch (response.status) {
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
      return { kind: 'refused', why: `it answered ${response.status}` };
  }
}

async function readText(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.length;
    if (size > MAX_ANSWER_BYTES) throw new Error('the answer is too large');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
