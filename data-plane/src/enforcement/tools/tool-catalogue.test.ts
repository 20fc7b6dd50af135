import { uuidv7 } from '@governance/shared/ids';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { ActiveRules, ReplicaAgent } from '../../contracts.ts';
import type { ListedTool } from '../../upstream/lists/list-tools.ts';
import { UpstreamFailure } from '../../upstream/upstream.ts';
import type { Caller } from '../call/calls.ts';
import { createToolCatalogue, type ToolCatalogue } from './tool-catalogue.ts';
import { NO_DEFINITIONS } from './tool-definitions.ts';

const TENANT = uuidv7();
const rules: ActiveRules = {
  revision: 1,
  digest: '',
  engine: { evaluate: () => ({ ok: false, fault: 'not_loaded', message: '' }) },
  settings: {
    tenant_id: TENANT,
    mcp_servers: {
      up: { server_id: 'up', transport: 'stdio', url: null, local_name: 'up' },
    },
  },
};
const call = (name: string, serverId = 'up') => ({
  caller: { tenantId: TENANT } as Caller,
  ask: { serverId, method: 'tools/call', name, args: {} },
  agent: { permits: [{ permissions: ['*:*'], scopes: null }] } as unknown as ReplicaAgent,
});
const tool = (name: string, readOnlyHint: boolean): ListedTool => ({
  name,
  annotations: { readOnlyHint },
});

let time = 0;
let catalogue: ToolCatalogue;
const listTools = vi.fn<() => Promise<ListedTool[]>>();

beforeEach(() => {
  time = 0;
  listTools.mockReset().mockResolvedValue([tool('echo', true)]);
  catalogue = createToolCatalogue({
    listTools,
    elapsed: () => time,
    definitions: NO_DEFINITIONS,
    findActions: () => undefined,
  });
});

describe('the catalogue', () => {
  it('asks nothing for an agent that may use nothing of the server', async () => {
    const stranger = { permits: [{ permissions: ['mail/send:read'], scopes: null }] };
    const asked = { ...call('echo'), agent: stranger as unknown as ReplicaAgent };
    expect(catalogue.findHints(asked, rules)).toBeUndefined();
    expect(listTools).not.toHaveBeenCalled();
    // What is known anyway is the same for everybody.
    await catalogue.findHints(call('echo'), rules);
    expect(catalogue.findHints(asked, rules)).toEqual({ readOnlyHint: true });
  });

  it('asks a server once, for all calls that come in the meantime', async () => {
    const hints = await Promise.all([1, 2, 3].map(() => catalogue.findHints(call('echo'), rules)));
    expect(hints.map((hint) => hint?.readOnlyHint)).toEqual([true, true, true]);
    expect(catalogue.findHints(call('echo'), rules)).toEqual({ readOnlyHint: true });
    expect(catalogue.findHints(call('other'), rules)).toBeUndefined();
    expect(listTools).toHaveBeenCalledOnce();
  });

  it('knows which argument of a tool asks for a dry run', async () => {
    const inputSchema = { type: 'object', properties: { dry_run: { type: 'boolean' } } };
    listTools.mockResolvedValue([{ ...tool('query', false), inputSchema }]);
    expect(await catalogue.findHints(call('query'), rules)).toEqual({
      readOnlyHint: false,
      dryRun: ['dry_run'],
    });
  });

  it('asks again when the list is old or has changed', async () => {
    await catalogue.findHints(call('echo'), rules);
    catalogue.forget(TENANT, 'up');
    await catalogue.findHints(call('echo'), rules);
    time += 11 * 60_000;
    await catalogue.findHints(call('echo'), rules);
    expect(listTools).toHaveBeenCalledTimes(3);
  });

  it('leaves a server that does not answer alone for a while, and keeps what it knew', async () => {
    await catalogue.findHints(call('echo'), rules);
    catalogue.forget(TENANT, 'up');
    listTools.mockRejectedValue(new Error('away'));
    expect(await catalogue.findHints(call('echo'), rules)).toEqual({ readOnlyHint: true });
    expect(catalogue.findHints(call('echo'), rules)).toEqual({ readOnlyHint: true });
    expect(listTools).toHaveBeenCalledTimes(2);
    time += 6000;
    listTools.mockResolvedValue([]);
    expect(await catalogue.findHints(call('echo'), rules)).toBeUndefined();
  });

  it('waits no longer than a few seconds', async () => {
    vi.useFakeTimers();
    try {
      listTools.mockReturnValue(new Promise(() => undefined));
      const waiting = catalogue.findHints(call('echo'), rules);
      await vi.advanceTimersByTimeAsync(5000);
      expect(await waiting).toBeUndefined();
    } finally {
      vi.useRealTimers();
    }
  });

  it('learns from lists that agents ask for; part of one adds to what is known', async () => {
    catalogue.learn({ tenantId: TENANT }, 'up', [tool('part', true)], false);
    expect(await catalogue.findHints(call('part'), rules)).toBeUndefined();
    catalogue.learn({ tenantId: TENANT }, 'up', [tool('part', true)], false);
    expect(catalogue.findHints(call('part'), rules)).toEqual({ readOnlyHint: true });
    catalogue.learn({ tenantId: TENANT }, 'up', [tool('whole', false)], true);
    expect(catalogue.findHints(call('part'), rules)).toBeUndefined();
    expect(catalogue.findHints(call('whole'), rules)).toEqual({ readOnlyHint: false });
  });

  it('knows for each client what it is listed, by what it declares', async () => {
    const knowing = (capabilities: object, name: string) => {
      const asked = call(name);
      const peer = { id: JSON.stringify(capabilities), capabilities, bind: () => expect.fail() };
      return { ...asked, caller: { ...asked.caller, peer } as Caller };
    };
    const [plain, other] = [call('page'), knowing({ roots: {} }, 'page')];
    await catalogue.findHints(plain, rules);
    listTools.mockResolvedValue([tool('page', true)]);
    const asked = knowing({ extensions: {} }, 'page');
    expect(await catalogue.findHints(asked, rules)).toEqual({ readOnlyHint: true });
    expect(catalogue.findHints(plain, rules)).toBeUndefined();
    catalogue.learn(plain.caller, 'up', [tool('echo', true)], true);
    catalogue.learn(other.caller, 'up', [tool('page', false)], true);
    expect(catalogue.findHints(asked, rules)).toEqual({ readOnlyHint: true });
    expect(catalogue.findHints(other, rules)).toEqual({ readOnlyHint: false });
    // News of a change concern all of them.
    catalogue.forget(TENANT, 'up');
    listTools.mockClear();
    for (const one of [plain, asked, other]) await catalogue.findHints(one, rules);
    expect(listTools).toHaveBeenCalledTimes(3);
  });

  it('asks no server that is not registered, and believes nothing that is no boolean', async () => {
    expect(catalogue.findHints(call('echo', 'constructor'), rules)).toBeUndefined();
    expect(catalogue.findHints(call('echo'), null)).toBeUndefined();
    expect(listTools).not.toHaveBeenCalled();
    listTools.mockResolvedValue([
      { name: 'echo', annotations: { readOnlyHint: 'yes' } },
      { name: 'x' },
    ]);
    expect(await catalogue.findHints(call('echo'), rules)).toEqual({});
  });
});

describe('what an administrator said of a tool', () => {
  const setId = uuidv7();
  const inForce = async () => {
    const hints = await catalogue.findHints(call('query'), rules);
    return hints?.override?.isInForce;
  };

  beforeEach(async () => {
    listTools.mockResolvedValue([tool('query', false)]);
    catalogue = createToolCatalogue({
      listTools,
      elapsed: () => time,
      definitions: { isUnchanged: (_place, _setId, digest) => digest !== null },
      findActions: () => ({ query: { action: 'read', set_id: setId } }),
    });
    expect(await inForce()).toBe(true);
    catalogue.forget(TENANT, 'up');
  });

  it('has no force while the server draws out its new list', async () => {
    vi.useFakeTimers();
    try {
      listTools.mockReturnValue(new Promise(() => undefined));
      const waiting = inForce();
      await vi.advanceTimersByTimeAsync(5000);
      expect(await waiting).toBe(false);
    } finally {
      vi.useRealTimers();
    }
  });

  it('has no force where the new list found no room in the share of an agent', async () => {
    listTools.mockRejectedValue(new UpstreamFailure('busy', 'Busy'));
    expect(await inForce()).toBe(false);
    listTools.mockResolvedValue([tool('query', false)]);
    expect(await inForce()).toBe(true);
  });
});
