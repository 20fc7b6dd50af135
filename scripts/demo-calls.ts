/**
 * The demo's calls: a real MCP client makes each, and both what it gets and what the audit trail
 * says have to be what the call is there to show. A denial for another reason fails the demo.
 */
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { AdminApi } from '../tests/support/admin-api.ts';
import { basicOf } from '../tests/support/admin-setup.ts';
import { connectSdk } from '../tests/support/sdk-client.ts';

/** Has the form of a cloud provider's access key, but gives access to nothing. */
const MADE_UP_KEY = 'AKIAQ3EGKH7W2MJX5PLN';
const POLL_MS = 50;
/** For a busy machine. */
const WITHIN_MS = 60_000;

export interface Credentials {
  client_id: string;
  client_secret: string;
}

/** How a call has to end. */
interface Expected {
  result: 'allowed' | 'denied' | 'replaced';
  /** How the answer begins if it ended so for this reason. */
  says: string;
  /** Its events, as `describeEvent` shows them. */
  events: string[];
}

interface Call extends Expected {
  label: string;
  tool: string;
  args: Record<string, unknown>;
}

const allowed = (says: string): Expected => ({ result: 'allowed', says, events: ['allow'] });

/** @param by the step that has to deny it, and no other */
const denied = (by: 'policy' | 'dlp' | 'blast-radius', reason: string): Expected => ({
  result: 'denied',
  says: `MCP error -32003: Denied by policy: ${reason}`,
  events: [`deny by ${by}: ${reason}`],
});

const ONE_SERVER: Call[] = [
  {
    ...{ label: 'everything / echo', tool: 'echo', args: { message: 'hello' } },
    ...allowed('Echo: hello'),
  },
  {
    ...{ label: 'everything / get-sum', tool: 'get-sum', args: { a: 2, b: 3 } },
    ...allowed('The sum of 2 and 3 is 5'),
  },
  {
    ...{ label: 'everything / get-env', tool: 'get-env', args: {} },
    ...denied('policy', 'No environment: reading the environment of a server is not allowed'),
  },
  {
    label: 'everything / echo with a cloud key',
    ...{ tool: 'echo', args: { message: `the key is ${MADE_UP_KEY}` } },
    ...denied('dlp', 'dlp: it holds sensitive data: aws_access_key_id'),
  },
];

function callsOfBoth(files: string): Call[] {
  const read = (name: string) => ({
    label: `files__read_text_file ${name}`,
    ...{ tool: 'files__read_text_file', args: { path: join(files, name) } },
  });
  const write = (name: string) => ({
    label: `files__write_file ${name}`,
    ...{ tool: 'files__write_file', args: { path: join(files, name), content: 'x' } },
  });
  const secret = join(files, 'secret-plan.txt');
  const unpermitted =
    'default: no policy allows this call; it needs a permission such as `files/create_directory:write`';
  return [
    { ...read('welcome.txt'), ...allowed('Hello from a governed file.') },
    {
      ...read('secret-plan.txt'),
      ...denied('policy', `No secrets: demo-agent may not touch ${secret}`),
    },
    {
      ...read('poisoned.txt'),
      result: 'replaced',
      says: '[The result is withheld by the gateway: it looks like an injection (',
      events: ['allow, result replaced by injection'],
    },
    {
      label: 'files__create_directory more',
      ...{ tool: 'files__create_directory', args: { path: join(files, 'more') } },
      ...denied('policy', unpermitted),
    },
    // The agent may write. Nobody may replace a key, and no policy is asked.
    { ...write('notes.txt'), ...allowed('Successfully wrote') },
    {
      ...write('site.pem'),
      ...denied('blast-radius', 'Blast radius: the call writes a protected file (*.pem)'),
    },
    // It may be read only with a person's approval.
    {
      ...{ ...read('site.pem'), label: 'files__read_text_file site.pem, approved' },
      ...allowed('The certificate of a site.'),
      events: [
        'escalate by policy: Blast radius: the call reads a protected file (*.pem)',
        'allow',
      ],
    },
  ];
}

export interface DemoCalls {
  url: string;
  admin: AdminApi;
  agent: Credentials;
  /** The folder of the server `files`. */
  files: string;
}

/**
 * Makes the calls, and shows how each ended.
 *
 * @returns what the audit trail has to say of them
 * @throws Error if one ended otherwise
 */
export async function makeCalls({ url, admin, agent, files }: DemoCalls): Promise<string[]> {
  const wrong: string[] = [];
  const attempt = async (client: Client, { label, tool, args, result, says }: Call) => {
    const [got, text] = await callTool(client, tool, args);
    show(got, label, text);
    if (got !== result || !text.startsWith(says)) wrong.push(`${label}: not ${result}, ${says}`);
  };

  const one = await connectSdk(`${url}/mcp/v1/everything`, {
    authorization: `Bearer ${await tokenOf(url, agent)}`,
  });
  for (const call of ONE_SERVER) await attempt(one, call);
  await one.close();

  const all = await connectSdk(`${url}/mcp/v1`, { authorization: basicOf(agent) });
  const { tools } = await all.listTools();
  console.log(`    ${'listed'.padEnd(12)} ${`${tools.length} tools of both servers`}`);
  const calls = callsOfBoth(files);
  const held = calls.pop() as Call;
  for (const call of calls) await attempt(all, call);
  const approval = approveOne(admin);
  await attempt(all, held);
  await approval;
  await all.close();

  const label = 'a stranger with a wrong secret';
  const stranger = basicOf({ ...agent, client_secret: 'wrong' });
  const [got, text] = await connectSdk(`${url}/mcp/v1`, { authorization: stranger }).then(
    () => ['allowed', ''] as const,
    (error: Error) => {
      const { code } = error as { code?: unknown };
      const isUnauthorized = /401|unauthorized/i.test(`${code} ${error.message}`);
      return [isUnauthorized ? 'unauthorized' : 'error', error.message] as const;
    },
  );
  show(got, label, text);
  if (got !== 'unauthorized') wrong.push(`${label}: not unauthorized`);
  if (wrong.length > 0) throw new Error(`not as expected: ${wrong.join('; ')}`);
  return [...ONE_SERVER, ...calls, held].flatMap(({ events }) => events);
}

function show(got: string, label: string, text: string): void {
  const line = text.split('\n')[0]?.slice(0, 110) ?? '';
  console.log(`    ${got.padEnd(12)} ${label.padEnd(44)} ${line}`);
}

async function callTool(
  client: Client,
  name: string,
  args: Record<string, unknown>,
): Promise<[got: string, text: string]> {
  try {
    const { content } = await client.callTool({ name, arguments: args });
    const text = ((content as { text?: string }[])[0]?.text ?? '').trim();
    return [text.startsWith('[The result is withheld') ? 'replaced' : 'allowed', text];
  } catch (error) {
    const { code, message } = error as { code?: number; message: string };
    return [code === -32003 ? 'denied' : `error ${code}`, message];
  }
}

async function tokenOf(url: string, { client_id, client_secret }: Credentials): Promise<string> {
  const answer = await fetch(`${url}/api/v1/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_id, client_secret, grant_type: 'client_credentials' }),
  });
  return ((await answer.json()) as { access_token: string }).access_token;
}

/** Approves the next call that waits for approval. */
async function approveOne(admin: AdminApi): Promise<void> {
  const { id, tool_name, reason } = await untilThere(async () => {
    const { escalations } = await admin.get<{
      escalations: { id: string; tool_name: string; reason: string }[];
    }>('/api/v1/escalations?status=pending');
    return escalations[0];
  }, 'no call waits for a person');
  console.log(`    ${'held'.padEnd(12)} ${tool_name.padEnd(44)} ${reason}`);
  await admin.post(`/api/v1/escalations/${id}/approve`, { notes: 'Seen in the demo' });
}

interface AuditEvent {
  timestamp: string;
  method: string | null;
  mcp_server: string | null;
  tool_name: string | null;
  policy_result: string | null;
  policy_reason: string | null;
  decided_by: string | null;
  outcome: string | null;
  result_action: string | null;
  inspection: { step: string | null } | null;
  hash: string;
}

/**
 * Shows the events of the calls, and the verified chain.
 *
 * @param expected as `makeCalls` returned them
 * @throws Error if an event says otherwise, or the chain does not verify
 */
export async function showAudit(admin: AdminApi, expected: readonly string[]): Promise<string> {
  // Records are shipped within a second of the call.
  const events = await untilThere(async () => {
    const all = await admin.get<{ events: AuditEvent[] }>('/api/v1/audit/events?limit=100');
    const calls = all.events.filter(({ method }) => method === 'tools/call');
    const isComplete = calls.every((one) => one.policy_result !== 'allow' || one.outcome !== null);
    return calls.length >= expected.length && isComplete ? calls.reverse() : undefined;
  }, `fewer than ${expected.length} calls were recorded`);
  for (const { timestamp, policy_result, decided_by, mcp_server, tool_name, hash } of events) {
    const decision = `${policy_result} by ${decided_by}`;
    const call = `${mcp_server}/${tool_name}`;
    console.log(
      `    ${timestamp}  ${decision.padEnd(20)} ${call.padEnd(22)} ${hash.slice(0, 16)}…`,
    );
  }
  const [says, wanted] = [events.map(describeEvent).join('\n'), expected.join('\n')];
  if (says !== wanted) throw new Error(`the audit trail says\n${says}\nand not\n${wanted}`);
  const verdict = await admin.get<{ valid: boolean; records_verified: number; streams: unknown[] }>(
    '/api/v1/audit/verify',
  );
  if (!verdict.valid) throw new Error('the chain does not verify');
  return `chain verified: ${verdict.records_verified} records in ${verdict.streams.length} streams`;
}

/** What was decided, by which step and why; for a call that went, what replaced its result. */
function describeEvent(event: AuditEvent): string {
  const { policy_result, decided_by, policy_reason, result_action, inspection } = event;
  if (policy_result !== 'allow') return `${policy_result} by ${decided_by}: ${policy_reason}`;
  return result_action === 'allowed'
    ? 'allow'
    : `allow, result ${result_action} by ${inspection?.step}`;
}

/** @throws Error with the message if `find` gives nothing for long */
async function untilThere<T>(find: () => Promise<T | undefined>, message: string): Promise<T> {
  const began = Date.now();
  while (Date.now() - began < WITHIN_MS) {
    const found = await find();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Error(message);
}
