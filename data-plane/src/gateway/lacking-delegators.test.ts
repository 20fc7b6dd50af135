/** The record of a call that a delegator may not make itself: nothing in the call changes why. */
import type { BundleSettings } from '@governance/shared/bundle/bundle-format';
import type { DataProtectionSettings } from '@governance/shared/settings/data-protection-settings';
import { DEFAULT_DLP_SETTINGS } from '@governance/shared/settings/dlp-settings';
import { DELEGATOR_LACKS } from '@governance/shared/tokens/delegation-scope';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { HTTP_SERVER, startTestPlane, type TestPlane } from '../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../testing/test-upstream.ts';
import { createTestWorkflows } from '../testing/test-workflows.ts';

let upstream: TestUpstream;
let plane: TestPlane;
let headers: Record<string, string>;

beforeAll(async () => {
  upstream = await startTestUpstream({ tools: [{ name: 'write_file' }] });
  plane = await startTestPlane({ servers: [HTTP_SERVER('files', upstream.url)] });
  const workflows = createTestWorkflows(plane);
  const owner = plane.addAgent(['mail:*']);
  const worker = plane.addAgent(['files:*']);
  const { sessionId } = workflows.start({ owner_agent_id: owner.id, participants: [] });
  const delegation = workflows.delegate(sessionId, owner.id, worker.id);
  headers = { authorization: worker.basic, 'x-delegation-token': delegation.token() };
});
afterAll(async () => {
  await plane.stop();
  await upstream.stop();
});

const word = {
  id: '0190bbbb-0000-7000-8000-000000000001',
  ...{ name: 'word', regex: 'delegator', severity: 'low' as const },
};
const protection = (redact_fields: string[]): DataProtectionSettings => ({
  payload_mode: 'metadata_only',
  redact_dlp_matches: false,
  redact_fields,
  hash_identifiers: false,
  sealing_key: null,
});

it.each<[string, Partial<BundleSettings>, object]>([
  ['nothing is found', {}, { note: 'x' }],
  ['a password is one of its words', {}, { password: 'delegator' }],
  [
    'a pattern of the tenant finds one of its words',
    { dlp: { ...DEFAULT_DLP_SETTINGS, custom: [word] } },
    { note: 'the delegator said so' },
  ],
  ['reasons are redacted', { data_protection: protection(['policy_reason']) }, { note: 'x' }],
  [
    'a redacted argument is one of its words',
    { data_protection: protection(['password']) },
    { password: 'delegator' },
  ],
])('is the same where %s', async (_, settings, args) => {
  plane.setSettings({ dlp: DEFAULT_DLP_SETTINGS, data_protection: undefined, ...settings });
  await plane.records();
  const call = { name: 'write_file', arguments: args };
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call };
  const { json } = await plane.post('/mcp/v1/files', body, headers);
  expect(json.error.code).toBe(-32003);
  const decisions = (await plane.records()).filter(({ type }) => type === 'decision');
  expect(decisions).toMatchObject([
    { decided_by: 'scope-probe', policy_reason: DELEGATOR_LACKS, policy_result: 'deny' },
  ]);
});
