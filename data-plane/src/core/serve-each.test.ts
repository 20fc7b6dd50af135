import { expect, it, vi } from 'vitest';
import { createServeEach } from './serve-each.ts';

function set(failing: Map<string, Error>) {
  const tried: string[] = [];
  const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
  const each = createServeEach({
    log,
    againMs: 5,
    serve: async (tenantId) => {
      tried.push(tenantId);
      const error = failing.get(tenantId);
      if (error) throw error;
    },
  });
  return { each, tried, log };
}

it('serves the others where one cannot be served, and tries that one again', async () => {
  const failing = new Map([['b', new Error('its stream is damaged')]]);
  const { each, tried, log } = set(failing);
  await each.start(['a', 'b', 'c']);
  expect(tried).toEqual(['a', 'b', 'c']);
  expect(each.findProblem()).toBe('1 tenants cannot be served: its stream is damaged');

  failing.clear();
  await vi.waitFor(() => expect(each.findProblem()).toBeUndefined());
  expect(tried.slice(3)).toEqual(expect.arrayContaining(['b']));
  expect(tried.slice(3)).not.toContain('a');
  expect(log.error).toHaveBeenCalledOnce();
  expect(log.info).toHaveBeenCalledOnce();
});

it('fails where none can be served, with the reason of the first', async () => {
  const { each } = set(
    new Map([
      ['a', new Error('the ledger is damaged')],
      ['b', new Error('something else')],
    ]),
  );
  await expect(each.start(['a', 'b'])).rejects.toThrow('the ledger is damaged');
  await expect(set(new Map()).each.start([])).resolves.toBeUndefined();
});

it('tries nothing again once it was stopped', async () => {
  const { each, tried } = set(new Map([['b', new Error('its stream is damaged')]]));
  await each.start(['a', 'b']);
  each.stop();
  const before = tried.length;
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(tried).toHaveLength(before);
});
