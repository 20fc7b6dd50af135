import { DEFAULT_DLP_SETTINGS, type DlpSettings } from '@governance/shared/settings/dlp-settings';
import { beforeEach, expect, it, vi } from 'vitest';
import type { ActiveRules, ReplicaAgent } from '../../contracts.ts';
import type { AgentCall, ClassifiedCall } from '../call/calls.ts';
import type { SentScan } from '../dlp/dlp-scanners.ts';
import type { DlpWatch } from '../dlp/dlp-watch.ts';
import type { DlpScans } from '../scan-thread/dlp-scans.ts';
import { ScanFailure } from '../scan-thread/scan-threads.ts';
import { type DlpDeps, scanCall } from './dlp.ts';
import { judgeAgain } from './judge-again.ts';

const rulesOf = (over: Partial<DlpSettings> = {}) =>
  ({ settings: { dlp: { ...DEFAULT_DLP_SETTINGS, ...over } } }) as unknown as ActiveRules;
const agent = { id: 'agent', status: 'active', credential_version: 1 } as unknown as ReplicaAgent;
const finding = { pattern: 'badge', severity: 'medium', place: '', length: 6 } as const;
const found: SentScan = { findings: [finding], matched: new Map() };

let rules: ActiveRules | null;
let agentNow: ReplicaAgent | undefined;
/** Ends the scan that is under way. */
let end: { resolve(scanned: SentScan): void; reject(error: unknown): void };
const sent = vi.fn();
const unscanned = vi.fn();
const assemble = vi.fn((..._call: unknown[]) => []);

const deps = {
  dlp: {
    across: { assemble },
    count: vi.fn(),
    gaveUp: vi.fn(),
    unscanned,
  } as unknown as DlpWatch,
  scans: { sent } as unknown as DlpScans,
  rules: { findActiveRules: () => rules },
  replica: { findAgent: () => agentNow, findKillSwitch: () => undefined },
  findDenial: () => null,
} as unknown as DlpDeps;

const scan = (more: Partial<ClassifiedCall> = {}) =>
  scanCall(
    {
      id: 'event',
      caller: { tenantId: 't', agent, proof: { credentialId: null, version: 1 } },
      ask: { serverId: 'up', method: 'tools/call', name: 'tool', args: {} },
      agent,
      rules,
      ...more,
    } as unknown as ClassifiedCall,
    deps,
  );

beforeEach(() => {
  vi.clearAllMocks();
  rules = rulesOf();
  agentNow = agent;
  sent.mockImplementation(
    () =>
      new Promise((resolve, reject) => {
        end = { resolve, reject };
      }),
  );
});

it('denies an agent that may no longer act when its large call has been scanned', async () => {
  const scanning = scan();
  agentNow = undefined;
  end.resolve({ ...found, findings: [] });
  expect(await scanning).toMatchObject({ kind: 'deny', cause: 'unauthenticated' });
});

it('has the call judged again under rules that came in the meantime', async () => {
  const scanning = scan();
  rules = rulesOf();
  end.resolve(found);
  const result = await scanning;
  expect(result).toMatchObject({ kind: 'again', from: 'classify', call: { agent: agentNow } });
  expect(result.kind === 'again' && 'rules' in result.call).toBe(false);
});

it('continues with the agent as it is then', async () => {
  const scanning = scan();
  agentNow = { ...agent };
  end.resolve(found);
  const result = await scanning;
  expect(result).toMatchObject({ kind: 'continue', call: { dlp: { action: 'warned' } } });
  expect(result.kind === 'continue' && result.call.agent).toBe(agentNow);
});

it('counts what is found once, and of a call that is judged again what is new', async () => {
  const { count } = deps.dlp;
  const find = async (patterns: string[], before?: AgentCall) => {
    vi.clearAllMocks();
    const scanning = scan(before);
    const findings = patterns.map((pattern) => ({ ...finding, pattern }));
    end.resolve({ ...found, findings });
    const result = await scanning;
    if (result.kind !== 'continue') throw new Error(result.kind);
    expect(result.call.dlp.findings).toEqual(findings);
    const counted = vi.mocked(count).mock.calls.flatMap(([all]) => all);
    const again = judgeAgain(result.call, { agent, workflow: undefined, delegation: undefined });
    return { counted: counted.map(({ pattern }) => pattern), call: again.call };
  };
  const first = await find(['badge', 'badge']);
  expect(first.counted).toEqual(['badge', 'badge']);
  const second = await find(['badge'], first.call);
  expect(second.counted).toEqual([]);
  expect((await find(['badge', 'shelf'], second.call)).counted).toEqual(['shelf']);
});

it('takes no state that a server signed for a value that the call itself holds whole', async () => {
  rules = rulesOf({ fragments: true });
  const state = 'a state that the server signed';
  const retry = { inputResponses: undefined, requestState: state };
  const ask = { serverId: 'up', method: 'tools/call', name: 'tool', args: {}, retry };
  const token = { ...finding, pattern: 'jwt' };
  const known = async (...findings: SentScan['findings']) => {
    const scanning = scan({ ask: ask as unknown as ClassifiedCall['ask'] });
    end.resolve({ ...found, findings });
    await scanning;
    return assemble.mock.lastCall?.[3];
  };
  const signed = { ...token, place: '/request_state', length: state.length };
  expect(await known(signed)).toEqual(new Set());
  expect(await known(signed, { ...token, place: '/arguments/text' })).toEqual(new Set(['jwt']));
});

it('joins pieces in what a client answers a server with, as in arguments', async () => {
  rules = rulesOf({ fragments: true });
  const retry = { inputResponses: { question: { content: 'half a key' } } };
  const ask = { serverId: 'up', method: 'tools/call', name: 'tool', args: { a: 'b' }, retry };
  const scanning = scan({ ask: ask as unknown as ClassifiedCall['ask'] });
  end.resolve({ ...found, findings: [] });
  await scanning;
  expect(assemble.mock.lastCall?.[1]).toEqual({ a: 'b', input_responses: retry.inputResponses });
});

it('denies what no thread could scan, and says so', async () => {
  const scanning = scan();
  end.reject(new ScanFailure('timeout', 'the scan took too long'));
  expect(await scanning).toMatchObject({ kind: 'deny', message: /took too long/ });
  expect(unscanned).toHaveBeenCalledWith(expect.anything(), expect.anything(), 'timeout');
  const failing = scan();
  end.reject(new Error('a fault of ours'));
  await expect(failing).rejects.toThrow('a fault');
});
