/** The command's requests to the service: whether it has a gateway, and the exchange of a token. */
import type { McpClient } from '@governance/shared/mcp/mcp-clients';
import { z } from 'zod';

/** The service's error, or its lack of an answer. */
export class ServiceError extends Error {
  override name = 'ServiceError';
}

export type Fetch = typeof fetch;

export interface ClientCredential {
  clientId: string;
  clientSecret: string;
  agentName: string;
}

const WAIT_MS = 30_000;
const MAX_ANSWER_BYTES = 65_536;
const METADATA = '/.well-known/oauth-protected-resource/mcp/v1';

// Form encoding leaves these characters as they are, and so does every configuration format.
const Plain = z.string().regex(/^[A-Za-z0-9_-]{1,200}$/);
const Redeemed = z.object({ client_id: Plain, client_secret: Plain, agent_name: z.string() });
const Refusal = z.object({ detail: z.string() });

/** @throws ServiceError if there is no gateway at the service's own address */
export async function findGateway(url: string, fetch: Fetch): Promise<string> {
  const { ok } = await ask(fetch, `${url}${METADATA}`, {});
  if (ok) return `${url}/mcp/v1`;
  throw new ServiceError(`${url} has no gateway: name the data plane's with --gateway.`);
}

/**
 * Exchanges an installer token, which is then used up.
 *
 * @throws ServiceError without the token in its message
 */
export async function redeemToken(
  url: string,
  token: string,
  client: McpClient,
  fetch: Fetch,
): Promise<ClientCredential> {
  const { ok, status, text } = await ask(fetch, `${url}/api/v1/enroll/installer`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ installer_token: token, client }),
  });
  const answer = parseJson(text);
  const redeemed = Redeemed.safeParse(answer);
  if (ok && redeemed.success) {
    const { client_id: clientId, client_secret: clientSecret, agent_name } = redeemed.data;
    return { clientId, clientSecret, agentName: visible(agent_name) };
  }
  const refusal = Refusal.safeParse(answer);
  const reason = refusal.success
    ? visible(refusal.data.detail)
    : 'no answer that is understood here';
  const next = status === 401 ? ' Ask an administrator for a new one.' : '';
  throw new ServiceError(`The service answered ${status}: ${reason.replaceAll(token, '…')}${next}`);
}

/** Redirects are not followed: the token is only for the given address. */
async function ask(fetch: Fetch, address: string, init: RequestInit) {
  try {
    const signal = AbortSignal.timeout(WAIT_MS);
    const response = await fetch(address, { ...init, redirect: 'error', signal });
    return { ok: response.ok, status: response.status, text: await readText(response) };
  } catch (error) {
    const cause = (error as Error).cause ?? error;
    throw new ServiceError(
      `${new URL(address).origin} could not be reached: ${visible(String(cause))}`,
    );
  }
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_ANSWER_BYTES) throw new Error('the answer is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Text from another machine, made safe for a terminal. */
function visible(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, ' ').slice(0, 500);
}
