import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BundleSettings } from '@governance/shared/bundle-format';
import { uuidv7 } from '@governance/shared/ids';
import { DEFAULT_INBOUND_SETTINGS } from '@governance/shared/inbound-settings';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import {
  changeAlert,
  type DefinitionChange,
  definitionOf,
  openPinnedTools,
  type PinnedTools,
} from './pinned-tools.ts';

const PLACE = { tenantId: 't', serverId: 's', toolName: 'read' };
const error = vi.fn();
let changes: DefinitionChange[];
let folder: string;
let open: PinnedTools[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'governance-pins-'));
  open = [];
  changes = [];
});

afterEach(() => {
  for (const one of open) one.close();
  rmSync(folder, { recursive: true, force: true });
  expect(error).not.toHaveBeenCalled();
});

/** As a worker opens it. */
function worker(): PinnedTools {
  const one = openPinnedTools(join(folder, 'tool-pins.db'), {
    onChanged: (change) => changes.push(change),
    now: () => Date.parse('2026-03-01T10:00:00Z'),
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
const digestOf = (one: ReturnType<typeof tool>) => definitionOf(one)?.digest ?? '';

const settings = (pinned?: string, require_approval = true): BundleSettings => ({
  tenant_id: uuidv7(),
  mcp_servers: {},
  inbound: {
    ...DEFAULT_INBOUND_SETTINGS,
    pinned_tools: {
      require_approval,
      pins: pinned === undefined ? [] : [{ server_id: 's', tool_name: 'read', hash: pinned }],
    },
  },
});

it('pins what is seen first, and tells a change once, for all workers and over restarts', () => {
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
      changed: ['description', 'annotations'],
    },
  ]);
  expect(JSON.stringify(changeAlert(changes[0] as DefinitionChange))).not.toContain('sends');
  one.observe('t', 's', [tool('Reads.')], null);
  expect(changes.at(-1)).toMatchObject({ seenHash: digestOf(tool('Reads.')), changed: [] });
  expect(changeAlert(changes.at(-1) as DefinitionChange)).toMatchObject({ severity: 'low' });
});

it('is no change where members stand in another order, or others than a definition has', () => {
  const one = worker();
  one.observe('t', 's', [tool('Reads.', { title: 'Read' })], null);
  const { name, description, inputSchema } = tool('Reads.');
  one.observe('t', 's', [{ title: 'Read', inputSchema, _meta: { a: 1 }, description, name }], null);
  expect(changes).toEqual([]);
});

it('has a changed tool wait where the tenant wants so, until what was seen is approved', () => {
  const one = worker();
  one.observe('t', 's', [tool('Reads.')], null);
  expect(one.isWaiting(PLACE, settings())).toBe(false);
  const changed = tool('Sends.');
  one.observe('t', 's', [changed], settings());
  expect(one.isWaiting(PLACE, settings())).toBe(true);
  expect(one.isWaiting(PLACE, settings(undefined, false))).toBe(false);
  expect(one.isWaiting(PLACE, settings(digestOf(changed)))).toBe(false);
  expect(one.isWaiting({ ...PLACE, tenantId: 'other' }, settings())).toBe(false);
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
