import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BundleSettings } from '@governance/shared/bundle/bundle-format';
import { uuidv7 } from '@governance/shared/ids';
import { DEFAULT_INBOUND_ACTIONS } from '@governance/shared/settings/inbound-settings';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { changeAlert, type DefinitionChange } from './definition-change.ts';
import { openPinnedTools, type PinnedTools } from './pinned-tools.ts';
import { definitionOf } from './tool-definition.ts';

const PLACE = { tenantId: 't', serverId: 's', toolName: 'read' };
const error = vi.fn();
const START = Date.parse('2026-03-01T10:00:00Z');
const HOUR = 3_600_000;
let now: number;
let news: string[];
let changes: DefinitionChange[];
let folder: string;
let open: PinnedTools[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'governance-pins-'));
  open = [];
  changes = [];
  news = [];
  now = START;
  error.mockClear();
});

afterEach(() => {
  for (const one of open) one.close();
  rmSync(folder, { recursive: true, force: true });
});

/** As a worker opens it. */
function worker(): PinnedTools {
  const one = openPinnedTools(join(folder, 'tool-pins.db'), {
    onObserved: (_tenantId, _serverId, changed) => changes.push(...changed),
    onNews: (tenantId) => news.push(tenantId),
    now: () => now,
    log: { error },
  });
  open.push(one);
  return one;
}

const tool = (description: string, more: object = {}) => ({
  name: 'read',
  description,
  inputSchema: { type: 'object', properties: { a: { type: 'string' } } },
  ...more,
});
const digestOf = (one: ReturnType<typeof tool>) => definitionOf(one).digest;

const settings = (
  pinned?: string,
  require_approval = true,
  more: { varies?: boolean; approved_at?: string } = {},
): BundleSettings => ({
  tenant_id: uuidv7(),
  mcp_servers: {},
  inbound: {
    actions: DEFAULT_INBOUND_ACTIONS,
    rules: [],
    pinned_tools: {
      require_approval,
      pins:
        pinned === undefined ? [] : [{ server_id: 's', tool_name: 'read', hash: pinned, ...more }],
    },
  },
});

it('pins what is seen first, and reports a change once, for all workers and over restarts', () => {
  const [one, other] = [worker(), worker()];
  one.observe('t', 's', [tool('Reads.')], null);
  other.observe('t', 's', [tool('Reads.')], null);
  expect(changes).toEqual([]);
  const changed = tool('Reads and sends.', { annotations: { readOnlyHint: true } });
  other.observe('t', 's', [changed], null);
  one.observe('t', 's', [changed], null);
  worker().observe('t', 's', [changed], null);
  expect(changes).toEqual([
    {
      place: PLACE,
      pinnedHash: digestOf(tool('Reads.')),
      seenHash: digestOf(changed),
      firstSeenAt: '2026-03-01T10:00:00.000Z',
      seenAt: '2026-03-01T10:00:00.000Z',
      changed: ['description', 'annotations'],
      difference: [
        { member: 'description', before: '"Reads."', after: '"Reads and sends."' },
        { member: 'annotations', before: null, after: '{"readOnlyHint":true}' },
      ],
      varies: false,
    },
  ]);
  one.observe('t', 's', [tool('Reads.')], null);
  expect(changes.at(-1)).toMatchObject({ seenHash: digestOf(tool('Reads.')), changed: [] });
  expect(changeAlert(changes.at(-1) as DefinitionChange)).toMatchObject({
    alert: { severity: 'low' },
  });
});

it('is no change where members stand in another order, or others than a definition has', () => {
  const one = worker();
  one.observe('t', 's', [tool('Reads.', { title: 'Read' })], null);
  const { name, description, inputSchema } = tool('Reads.');
  one.observe('t', 's', [{ title: 'Read', inputSchema, _meta: { a: 1 }, description, name }], null);
  expect(changes).toEqual([]);
});

it('lets a changed tool wait where the tenant wants it, until the seen definition is approved', () => {
  const one = worker();
  one.observe('t', 's', [tool('Reads.')], null);
  expect(one.isWaiting(PLACE, settings())).toBe(false);
  const changed = tool('Sends.');
  one.observe('t', 's', [changed], settings());
  expect(one.isWaiting(PLACE, settings())).toBe(true);
  expect(one.isWaiting(PLACE, settings(undefined, false))).toBe(false);
  expect(one.isWaiting(PLACE, settings(digestOf(changed)))).toBe(false);
  // It is the pin from now on: what it was before is a change.
  one.observe('t', 's', [changed], settings(digestOf(changed)));
  one.observe('t', 's', [tool('Reads.')], settings(digestOf(changed)));
  expect(changes.at(-1)).toMatchObject({
    pinnedHash: digestOf(changed),
    seenHash: digestOf(tool('Reads.')),
    changed: ['description'],
  });
  expect(one.isWaiting(PLACE, settings(digestOf(changed)))).toBe(true);
});

it('lets a tool wait that was not listed: left out of a long list, or of one that cannot be read', () => {
  const one = worker();
  one.observe('t', 's', [{ name: 'other' }], settings());
  expect(one.isWaiting(PLACE, settings())).toBe(true);
  expect(one.isWaiting({ ...PLACE, tenantId: 'other' }, settings())).toBe(true);
  expect(one.isWaiting(PLACE, settings(undefined, false))).toBe(false);
  one.observe('t', 's', [tool('Reads.')], settings());
  expect(one.isWaiting(PLACE, settings())).toBe(false);
});

it('goes by the bundle where a tool is seen here for the first time', () => {
  const one = worker();
  const approved = digestOf(tool('Reads.'));
  one.observe('t', 's', [tool('Sends.')], settings(approved));
  expect(changes).toMatchObject([{ pinnedHash: approved, seenHash: digestOf(tool('Sends.')) }]);
  expect(one.isWaiting(PLACE, settings(approved))).toBe(true);
  one.observe('t', 's', [tool('Reads.')], settings(approved));
  expect(one.isWaiting(PLACE, settings(approved))).toBe(false);
});

it('pins no more tools of one server than it has room for', () => {
  const one = worker();
  const many = (from: number) =>
    Array.from({ length: 2_500 }, (_, i) => ({ name: `tool-${from + i}` }));
  one.observe('t', 's', many(0), null);
  one.observe('t', 's', many(2_500), null);
  one.observe('t', 's', [{ name: 'tool-4500', description: 'new' }], null);
  one.observe('t', 's', [{ name: 'tool-4500', description: 'other' }], null);
  expect(changes).toEqual([]);
  one.observe('t', 's', [{ name: 'tool-10', description: 'other' }], null);
  expect(changes).toHaveLength(1);
});

it('shows where a long definition begins to differ, and no more than 2,000 characters a side', () => {
  const one = worker();
  const long = 'x'.repeat(5_000);
  one.observe('t', 's', [tool(`${long} Reads. ${long}`)], null);
  one.observe('t', 's', [tool(`${long} Sends. ${long}`, { title: long })], null);
  const [change] = changes as [DefinitionChange];
  expect(change.difference).toEqual([
    { member: 'title', before: null, after: expect.stringMatching(/^"x{999}…$/) },
    {
      member: 'description',
      before: expect.stringMatching(/^…x{59} Reads\. x*…$/),
      after: expect.stringMatching(/^…x{59} Sends\. x*…$/),
    },
  ]);
  const sides = change.difference.map(({ after }) => after?.length ?? 0);
  expect(sides.reduce((sum, length) => sum + length)).toBeLessThanOrEqual(2_010);
});

it('is what was seen last, however often it changes between two workers', () => {
  const [one, other] = [worker(), worker()];
  const [first, second] = [tool('Reads.'), tool('Sends.')];
  for (const seen of [first, second, first, second]) one.observe('t', 's', [seen], null);
  expect(one.isWaiting(PLACE, settings())).toBe(true);
  other.observe('t', 's', [first], null);
  expect(one.isWaiting(PLACE, settings())).toBe(false);
  // The first worker knows this one, and not that another came in between.
  now += 2 * 24 * HOUR;
  one.observe('t', 's', [second], null);
  expect(other.isWaiting(PLACE, settings())).toBe(true);
});

it('is reported four times a day; then it varies, always waits, and is no longer reported', () => {
  const one = worker();
  const seen = (day: number) => one.observe('t', 's', [tool(`Today is ${day}.`)], null);
  for (let day = 0; day < 20; day++) {
    seen(day % 2);
    now += 60_000;
  }
  expect(changes.map(({ varies }) => varies)).toEqual([false, false, false, false, true]);
  expect(changeAlert(changes[4] as DefinitionChange)).toMatchObject({
    toolName: 'read',
    alert: {
      severity: 'high',
      details: { varies: true },
      dedupe_key: 'tool-pin:s/read:varies',
    },
  });
  seen(0);
  expect(one.isWaiting(PLACE, settings())).toBe(true);
  // Once it has been the same for a day it is as any other.
  now += 24 * HOUR + 60_000;
  seen(0);
  expect(one.isWaiting(PLACE, settings())).toBe(false);
  seen(1);
  expect(changes.slice(5)).toMatchObject([{ varies: false }]);
  // What an administrator approves may be anything, and is not reported.
  const whatever = settings(digestOf(tool('Today is 0.')), true, { varies: true });
  expect(one.isWaiting(PLACE, whatever)).toBe(false);
  one.observe('t', 's', [tool('Today is 7.')], whatever);
  expect(changes).toHaveLength(6);
});

it('that varied waits no longer once it is approved, and waits again for the next change', () => {
  const one = worker();
  const seen = (description: string, rules: BundleSettings | null = null) =>
    one.observe('t', 's', [tool(description)], rules);
  for (const description of ['a', 'b', 'c', 'a', 'b', 'a']) {
    now += 60_000;
    seen(description);
  }
  const approved = (at: number) =>
    settings(digestOf(tool('a')), true, { approved_at: new Date(at).toISOString() });
  expect(one.isWaiting(PLACE, settings(digestOf(tool('a'))))).toBe(true);
  const rules = approved(now + 1);
  expect(one.isWaiting(PLACE, rules)).toBe(false);
  now += 60_000;
  seen('a', rules);
  expect(changes).toHaveLength(5);
  seen('b', rules);
  expect(one.isWaiting(PLACE, rules)).toBe(true);
  // Reported again, as a change of a tool that does not vary.
  expect(changes.slice(5)).toMatchObject([{ varies: false }]);
  seen('a', rules);
  expect(one.isWaiting(PLACE, rules)).toBe(false);
});

describe('that varied and was approved', () => {
  const A_DAY = 24 * HOUR;
  const a = digestOf(tool('a'));
  const approvedBy = (clock: number) =>
    settings(a, true, { approved_at: new Date(now + clock).toISOString() });

  function aVaryingTool() {
    const one = worker();
    const seen = (rules: BundleSettings, ...descriptions: string[]) => {
      for (const description of descriptions) {
        now += HOUR;
        one.observe('t', 's', [tool(description)], rules);
      }
      return one.isWaiting(PLACE, rules);
    };
    expect(seen(settings(a), 'a', 'b', 'a', 'b', 'a', 'b', 'a')).toBe(true);
    changes = [];
    return { one, seen };
  }

  it.each([
    ['that is right', 0],
    ['that is an hour behind', -HOUR],
    ['that is two days behind', -2 * A_DAY],
    ['that is a year ahead', 365 * A_DAY],
  ])('by a clock %s, waits no longer until it varies again', (_clock, offset) => {
    const { seen } = aVaryingTool();
    const approved = approvedBy(offset);
    expect(seen(approved, 'a')).toBe(false);
    for (let time = 0; time < 2; time++) expect(seen(approved, 'b', 'a')).toBe(false);
    for (let time = 0; time < 8; time++) expect(seen(approved, 'b', 'a')).toBe(true);
    expect(changes).toHaveLength(5);
    // Approved again, by a clock that was put right since: the times of approvals ascend.
    const [pin] = approved.inbound?.pinned_tools?.pins ?? [];
    const again = new Date(Date.parse(pin?.approved_at ?? '') + 1).toISOString();
    expect(seen(settings(a, true, { approved_at: again }), 'a')).toBe(false);
  });

  /** As an earlier version leaves its rows. */
  function forget(more = '') {
    const file = new Database(join(folder, 'tool-pins.db'));
    file.exec(`UPDATE tool_pins SET approval = NULL ${more}`);
    file.close();
  }

  it('before its file was of this version, goes by the times once', () => {
    const { one, seen } = aVaryingTool();
    forget();
    const before = approvedBy(-2 * HOUR);
    expect(one.isWaiting(PLACE, before)).toBe(true);
    expect(seen(before, 'a')).toBe(true);
    expect(seen(approvedBy(-2 * HOUR), 'a')).toBe(false);
    expect(seen(before, 'b', 'a', 'b', 'a', 'b', 'a')).toBe(true);
    forget();
    expect(seen(settings(a), 'a')).toBe(true);
    expect(seen(before, 'a')).toBe(false);
  });

  it('and was put off by an earlier version, does not wait for ever', () => {
    const { one, seen } = aVaryingTool();
    const followed = approvedBy(-2 * HOUR);
    for (const rules of [settings(a), followed]) {
      forget(', put_off = 1');
      expect(seen(rules, 'a')).toBe(true);
      const file = new Database(join(folder, 'tool-pins.db'));
      expect(file.prepare('SELECT put_off FROM tool_pins').pluck().get()).toBe(0);
      file.close();
    }
    now += A_DAY;
    expect(one.isWaiting(PLACE, followed)).toBe(false);
  });

  it('and was put off a moment before the upgrade, is looked at again', () => {
    const { one } = aVaryingTool();
    forget(', put_off = 1');
    const look = () => one.observe('t', 's', [tool('a')], settings(a));
    now += 60_000;
    look();
    now += 10 * 60_000;
    look();
    now += A_DAY;
    expect(one.isWaiting(PLACE, settings(a))).toBe(false);
  });

  it('since its file is of this version, follows an approval by a clock that is behind', () => {
    const one = worker();
    const see = (description: string) => {
      now += HOUR;
      one.observe('t', 's', [tool(description)], settings(a));
    };
    for (const description of ['a', 'b']) see(description);
    forget();
    for (const description of ['c', 'b', 'c', 'a']) see(description);
    expect(one.isWaiting(PLACE, settings(a))).toBe(true);
    expect(one.isWaiting(PLACE, approvedBy(-2 * HOUR))).toBe(false);
  });
});

describe('that varied while the clock was ahead', () => {
  const wanted = settings(digestOf(tool('5')));

  /** The tool is as it is wanted, and the clock has been put back by a month. */
  function afterwards() {
    const one = worker();
    now = START + 30 * 24 * HOUR;
    for (let i = 0; i < 6; i++) one.observe('t', 's', [tool(`${i}`)], wanted);
    now = START;
    one.observe('t', 's', [tool('5')], wanted);
    return one;
  }

  it('waits no longer than a day once it is put back', () => {
    const one = afterwards();
    expect(one.isWaiting(PLACE, wanted)).toBe(true);
    now += 24 * HOUR;
    expect(one.isWaiting(PLACE, wanted)).toBe(false);
  });

  it('waits no longer once it is approved', () => {
    const one = afterwards();
    now += HOUR;
    const approved_at = new Date(now).toISOString();
    const approved = settings(digestOf(tool('5')), true, { approved_at });
    one.observe('t', 's', [tool('5')], approved);
    expect(one.isWaiting(PLACE, approved)).toBe(false);
  });
});

it('that varied is written down as it stays, also where its last change came soon after another', () => {
  const one = worker();
  const seen = (description: string) => one.observe('t', 's', [tool(description)], settings());
  for (const description of ['a', 'b', 'c', 'a', 'b', 'a', 'evil']) {
    now += 60_000;
    seen(description);
  }
  for (let hour = 0; hour < 30; hour++) {
    now += HOUR;
    seen('evil');
    expect(one.isWaiting(PLACE, settings(digestOf(tool('a'))))).toBe(true);
  }
  expect(one.findSeen(PLACE)).toBe(digestOf(tool('evil')));
});

it('that varied waits where the definition that is approved is not its present one', () => {
  const one = worker();
  const rules = (more = {}) => settings(digestOf(tool('a')), true, more);
  const seen = (description: string, under: BundleSettings) =>
    one.observe('t', 's', [tool(description)], under);
  for (const description of ['a', 'b', 'c', 'a', 'b', 'a', 'evil']) {
    now += 60_000;
    seen(description, rules());
  }
  const approved = rules({ approved_at: new Date(now + 1).toISOString() });
  expect(one.isWaiting(PLACE, approved)).toBe(true);
  now += 60_000;
  seen('evil', approved);
  expect(one.isWaiting(PLACE, approved)).toBe(true);
  seen('a', approved);
  expect(one.isWaiting(PLACE, approved)).toBe(false);
});

describe('a change of a tool that varies, which one worker has put off', () => {
  const rules = (more = {}) => settings(digestOf(tool('a')), true, more);
  const approved = () => rules({ approved_at: new Date(now).toISOString() });
  const see = (at: PinnedTools, description: string, under = rules()) =>
    at.observe('t', 's', [tool(description)], under);

  /** Two workers that know the tool as `a`, which is approved, and varied. */
  function twoWorkers() {
    const [one, other] = [worker(), worker()];
    for (const description of ['a', 'b', 'c', 'a', 'b', 'a']) {
      now += 60_000;
      see(one, description);
      see(other, description);
    }
    now += 1_000;
    const under = approved();
    for (const each of [one, other]) expect(each.isWaiting(PLACE, under)).toBe(false);
    return { one, other, under };
  }

  it('makes it wait at the others too, also after a start, until it is what is approved', () => {
    const { one, other, under } = twoWorkers();
    // With the bundle of before, since the newest one takes a moment to arrive.
    see(one, 'evil');
    for (const each of [one, other, worker()]) expect(each.isWaiting(PLACE, under)).toBe(true);
    // The bundle came: the change is noted and reported.
    now += 1_000;
    see(other, 'evil', under);
    expect(changes.at(-1)).toMatchObject({ seenHash: digestOf(tool('evil')), varies: false });
    for (const each of [one, other]) expect(each.isWaiting(PLACE, under)).toBe(true);
    see(one, 'a', under);
    for (const each of [one, other]) expect(each.isWaiting(PLACE, under)).toBe(false);
  });

  it('does not lose the approval where the tool is again what is approved', () => {
    const { one, other, under } = twoWorkers();
    see(one, 'evil');
    see(one, 'a');
    see(other, 'a', under);
    for (const each of [one, other]) expect(each.isWaiting(PLACE, under)).toBe(false);
  });

  it('is forgotten after ten minutes where it did not last', () => {
    const { one, other } = twoWorkers();
    see(one, 'evil');
    see(one, 'a');
    expect(other.isWaiting(PLACE, approved())).toBe(true);
    now += 10 * 60_000;
    see(other, 'a');
    for (const each of [one, other]) expect(each.isWaiting(PLACE, approved())).toBe(false);
  });

  it('is written once in ten minutes, and is no news of the pin', () => {
    const { one } = twoWorkers();
    const disk = new Database(join(folder, 'tool-pins.db'));
    const version = () => disk.pragma('data_version', { simple: true });
    see(one, 'evil');
    const [before, told] = [version(), news.length];
    for (let i = 0; i < 100; i++) see(one, i % 2 === 0 ? 'a' : `evil ${i}`);
    expect(version()).toBe(before);
    expect(news).toHaveLength(told);
    disk.close();
  });
});

it('uses what another data plane saw first, as soon as the bundle has it', () => {
  const one = worker();
  one.observe('t', 's', [tool('Sends.')], null);
  const pinned = settings(digestOf(tool('Reads.')));
  expect(one.isWaiting(PLACE, pinned)).toBe(true);
  expect(changes).toEqual([]);
  now += HOUR;
  one.observe('t', 's', [tool('Sends.')], pinned);
  expect(changes).toMatchObject([
    { pinnedHash: digestOf(tool('Reads.')), seenAt: '2026-03-01T11:00:00.000Z' },
  ]);
});

it('lets nothing through that it could not write down, where approval is asked for', () => {
  const one = worker();
  one.observe('t', 's', [tool('Reads.')], null);
  const disk = new Database(join(folder, 'tool-pins.db'));
  disk.exec(`CREATE TRIGGER full BEFORE INSERT ON tool_pins WHEN NEW.tool_name = 'read'
    BEGIN SELECT RAISE(ABORT, 'no space'); END`);
  one.observe('t', 's', [tool('Sends.')], settings());
  expect(error).toHaveBeenCalledOnce();
  expect(one.isWaiting(PLACE, settings())).toBe(true);
  expect(one.isWaiting(PLACE, settings(undefined, false))).toBe(false);
  // Another page of the list says nothing of this one.
  one.observe('t', 's', [{ name: 'other' }], settings());
  expect(one.isWaiting({ ...PLACE, toolName: 'other' }, settings())).toBe(false);
  expect(one.isWaiting(PLACE, settings())).toBe(true);
  disk.exec('DROP TRIGGER full');
  disk.close();
  one.observe('t', 's', [tool('Reads.')], settings());
  expect(one.isWaiting(PLACE, settings())).toBe(false);
  one.close();
  expect(() => one.isWaiting(PLACE, settings())).toThrow();
});

it('notices what has no canonical form', () => {
  const one = worker();
  one.observe('t', 's', [tool('Reads.')], null);
  one.observe('t', 's', [tool('\ud800')], null);
  one.observe('t', 's', [tool('\ud801')], null);
  expect(changes).toHaveLength(2);
});

it('reports every pin once, what changed again, and what was not received again', () => {
  const one = worker();
  const names = Array.from({ length: 130 }, (_, i) => ({ name: `tool-${i}` }));
  one.observe('t', 's', names, null);
  one.observe('t', 's', names, null);
  expect(news).toEqual(['t']);
  const told = new Map<string, unknown>();
  const receive = () => {
    const page = one.reports.next('t') ?? [];
    expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThan(13_000);
    for (const report of page) told.set(report.tool_name, report);
    return page.length;
  };
  const lost = receive();
  told.clear();
  expect(receive()).toBe(lost);
  while (receive() > 0) one.reports.received('t');
  expect(told.size).toBe(130);
  expect(told.get('tool-7')).toEqual({
    server_id: 's',
    tool_name: 'tool-7',
    pinned_hash: definitionOf({ name: 'tool-7' }).digest,
    first_seen_at: '2026-03-01T10:00:00.000Z',
    seen_at: '2026-03-01T10:00:00.000Z',
  });
  now += HOUR;
  one.observe('t', 's', [{ name: 'tool-7', description: 'Other.' }], null);
  expect(one.reports.next('t')).toMatchObject([
    {
      tool_name: 'tool-7',
      seen_at: '2026-03-01T11:00:00.000Z',
      changed: ['description'],
      difference: [{ member: 'description', before: null, after: '"Other."' }],
    },
  ]);
  one.reports.received('t');
  expect(one.reports.next('t')).toBeUndefined();
  expect(one.reports.next('other')).toBeUndefined();
  // A control plane may have lost some: all of them again, once a day.
  now += 25 * HOUR;
  expect(one.reports.next('t')?.length).toBeGreaterThan(1);
});

it('reports all pins where what one of them was is damaged, and notices further changes', () => {
  const one = worker();
  const named = (name: string) => ({ ...tool('Reads.'), name });
  one.observe('t', 's', [named('a'), named('b'), named('c')], settings());
  one.observe('t', 's', [{ ...named('b'), description: 'Writes.' }], settings());
  const db = new Database(join(folder, 'tool-pins.db'));
  db.exec(`UPDATE tool_pins SET members = '{', seen_members = '[1]' WHERE tool_name = 'b'`);
  db.close();
  changes = [];
  const deleting = { ...named('b'), description: 'Deletes.' };
  one.observe('t', 's', [{ ...named('a'), description: 'Writes.' }, deleting], settings());
  expect(changes.map(({ place }) => place.toolName)).toEqual(['a', 'b']);
  expect(error).not.toHaveBeenCalled();
  const { digest } = definitionOf(deleting);
  const reported = one.reports.next('t')?.map((pin) => [pin.tool_name, pin.seen_hash]);
  expect(reported).toEqual([
    ['c', undefined],
    ['a', expect.any(String)],
    ['b', digest],
  ]);
});

it('reports what it pins anew after rows were lost, and a pin whose times are damaged', () => {
  const one = worker();
  const named = (name: string, description = 'Reads.') => ({ ...tool(description), name });
  one.observe('t', 's', [named('a'), named('b')], settings());
  const tell = () => {
    const told = one.reports.next('t') ?? [];
    one.reports.received('t');
    return told;
  };
  expect(tell()).toHaveLength(2);
  const db = new Database(join(folder, 'tool-pins.db'));
  db.exec('DELETE FROM tool_pins');
  const writing = named('a', 'Writes.');
  one.observe('t', 's', [writing], settings());
  expect(tell()).toMatchObject([{ tool_name: 'a', pinned_hash: definitionOf(writing).digest }]);
  db.exec(`UPDATE tool_pins SET first_seen_at = '?', seen_at = 'x', counted_from = ''`);
  db.close();
  one.observe('t', 's', [named('a', 'Deletes.')], settings());
  const at = '2026-03-01T10:00:00.000Z';
  expect(tell()).toMatchObject([{ tool_name: 'a', first_seen_at: at, seen_at: at }]);
});

it('takes a file of before', () => {
  const path = join(folder, 'tool-pins.db');
  const old = new Database(path);
  old.exec(`CREATE TABLE tool_pins (
    tenant_id TEXT NOT NULL, server_id TEXT NOT NULL, tool_name TEXT NOT NULL,
    pinned TEXT NOT NULL, members TEXT NOT NULL, seen TEXT NOT NULL, seen_members TEXT NOT NULL,
    first_seen_at TEXT NOT NULL,
    PRIMARY KEY (tenant_id, server_id, tool_name)) STRICT, WITHOUT ROWID`);
  const put = old.prepare('INSERT INTO tool_pins VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
  const { digest, members } = definitionOf(tool('Reads.'));
  const json = JSON.stringify(members);
  for (const name of ['read', 'other']) {
    put.run('t', 's', name, digest, json, digest, json, '2026-02-01T00:00:00.000Z');
  }
  old.close();
  const one = worker();
  expect(one.reports.next('t')).toHaveLength(2);
  one.observe('t', 's', [tool('Sends.')], null);
  expect(changes).toMatchObject([
    {
      changed: ['description'],
      firstSeenAt: '2026-02-01T00:00:00.000Z',
      difference: [{ member: 'description', before: null, after: '"Sends."' }],
    },
  ]);
});

it('does not know a tool that one list describes in several ways, until a list describes it once', () => {
  const one = worker();
  const [good, evil, other] = [tool('Reads.'), tool('Sends.'), tool('Lists.', { name: 'list' })];
  const approved = settings(digestOf(good));
  one.observe('t', 's', [good, other], approved);
  for (const list of [
    [evil, good, other],
    [good, evil, other],
    [good, other, evil],
  ]) {
    one.observe('t', 's', list, approved);
    expect(one.isWaiting(PLACE, approved)).toBe(true);
    expect(one.isWaiting(PLACE, settings(undefined, false))).toBe(false);
    expect(one.isWaiting({ ...PLACE, toolName: 'list' }, approved)).toBe(false);
  }
  expect(changes).not.toEqual([]);
  one.observe('t', 's', [good, { ...good }, other], approved);
  expect(one.isWaiting(PLACE, approved)).toBe(false);
});
