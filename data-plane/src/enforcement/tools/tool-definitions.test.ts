import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { uuidv7 } from '@governance/shared/ids';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { definitionDigest, openToolDefinitions, type ToolDefinitions } from './tool-definitions.ts';

const PLACE = { tenantId: 't', serverId: 's', toolName: 'git_status' };
const error = vi.fn();
const onLapsed = vi.fn();
let folder: string;
let open: ToolDefinitions[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'governance-definitions-'));
  open = [];
  onLapsed.mockReset();
});

afterEach(() => {
  for (const one of open) one.close();
  rmSync(folder, { recursive: true, force: true });
  expect(error).not.toHaveBeenCalled();
});

/** As a worker opens it. */
function worker(): ToolDefinitions {
  const one = openToolDefinitions(join(folder, 'tool-definitions.db'), onLapsed, { error });
  open.push(one);
  return one;
}

it('keeps the definition that was seen first, over restarts and for all workers', () => {
  const setId = uuidv7();
  const [one, other] = [worker(), worker()];
  expect(one.isUnchanged(PLACE, setId, null)).toBe(false);
  expect(one.isUnchanged(PLACE, setId, 'a')).toBe(true);
  // Another worker, for which it is the first one, sees it changed already.
  expect(other.isUnchanged(PLACE, setId, 'b')).toBe(false);
  expect(onLapsed).toHaveBeenCalledExactlyOnceWith(PLACE);
  expect(one.isUnchanged(PLACE, setId, 'a')).toBe(false);
  expect(worker().isUnchanged(PLACE, setId, 'a')).toBe(false);
  expect(onLapsed).toHaveBeenCalledOnce();
});

it('starts afresh with each setting, and never goes back to an earlier one', () => {
  const [first, second] = [uuidv7(1), uuidv7(2)];
  const one = worker();
  one.isUnchanged(PLACE, first, 'a');
  one.isUnchanged(PLACE, first, 'b');
  expect(one.isUnchanged(PLACE, second, 'b')).toBe(true);
  // A worker that still has the rules of before.
  expect(worker().isUnchanged(PLACE, first, 'a')).toBe(false);
  expect(one.isUnchanged(PLACE, second, 'b')).toBe(true);
});

it('takes name, description, schema and annotations for the definition', () => {
  const tool = { name: 'a', description: 'b', inputSchema: { type: 'object' }, annotations: {} };
  const digest = definitionDigest(tool);
  expect(definitionDigest({ ...tool, _meta: { x: 1 } })).toBe(digest);
  expect(
    definitionDigest({
      annotations: {},
      inputSchema: { type: 'object' },
      description: 'b',
      name: 'a',
    }),
  ).toBe(digest);
  for (const change of [
    { name: 'b' },
    { description: 'c' },
    { inputSchema: { type: 'object', properties: {} } },
    { annotations: { readOnlyHint: true } },
    { annotations: undefined },
  ]) {
    expect(definitionDigest({ ...tool, ...change })).not.toBe(digest);
  }
});
