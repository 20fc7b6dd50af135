/** The control plane's API, as far as policies in files need it. */
import { z } from 'zod';
import { UsageError } from './policy-folder.ts';

const TIMEOUT_MS = 60_000;

const Policy = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  rego_content: z.string(),
  status: z.enum(['draft', 'active', 'archived']),
});
export type RemotePolicy = z.infer<typeof Policy>;

const Settings = z.object({ policies: z.object({ require_change_requests: z.boolean() }) });
const ChangeRequests = z.object({
  change_requests: z.array(
    z.object({
      id: z.string(),
      proposed_name: z.string(),
      proposed_description: z.string(),
      proposed_rego_content: z.string(),
      proposed_status: z.string(),
    }),
  ),
});

export type Content = Pick<RemotePolicy, 'name' | 'description' | 'rego_content' | 'status'>;

export type PoliciesApi = ReturnType<typeof createPoliciesApi>;

/** Its calls throw UsageError if the control plane cannot be reached or refuses. */
export function createPoliciesApi(url: string, token: string) {
  const base = url.replace(/\/+$/, '');
  async function call<T>(method: string, path: string, schema: z.ZodType<T>, body?: object) {
    let response: Response;
    let text: string;
    try {
      response = await fetch(`${base}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      text = await response.text();
    } catch (error) {
      throw new UsageError(`${base} cannot be reached: ${reasonOf(error)}`);
    }
    if (!response.ok) {
      throw new UsageError(`${method} ${path}: ${response.status} ${detailOf(text)}`);
    }
    const answer = schema.safeParse(jsonOf(text));
    if (!answer.success) throw new UsageError(`${method} ${path}: not an answer of this service`);
    return answer.data;
  }

  return {
    list: async (): Promise<RemotePolicy[]> =>
      (await call('GET', '/api/v1/policies', z.object({ policies: z.array(Policy) }))).policies,
    needsChangeRequests: async (): Promise<boolean> =>
      (await call('GET', '/api/v1/admin/settings', Settings)).policies.require_change_requests,
    create: (content: Content) => call('POST', '/api/v1/policies', Policy, content),
    change: (id: string, change: Partial<Content>) =>
      call('PATCH', `/api/v1/policies/${id}`, Policy, change),
    pending: async (id: string) =>
      (
        await call(
          'GET',
          `/api/v1/policies/${id}/change-requests?req_status=pending&limit=100`,
          ChangeRequests,
        )
      ).change_requests,
    propose: (id: string, content: Content, summary: string) =>
      call('POST', `/api/v1/policies/${id}/change-requests`, z.object({ id: z.string() }), {
        proposed_name: content.name,
        proposed_description: content.description,
        proposed_rego_content: content.rego_content,
        proposed_status: content.status,
        summary,
      }),
  };
}

function reasonOf(error: unknown): string {
  const { cause, message } = error as Error;
  return cause instanceof Error ? cause.message : message;
}

function detailOf(text: string): string {
  const answer = z.object({ detail: z.string() }).safeParse(jsonOf(text));
  return answer.success ? answer.data.detail : text.slice(0, 200);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
