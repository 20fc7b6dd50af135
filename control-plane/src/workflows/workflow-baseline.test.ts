import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  findAnomalies,
  learn,
  type SessionMeasures,
  type WorkflowBaseline,
} from './workflow-baseline.ts';

const usual: SessionMeasures = {
  durationSeconds: 100,
  maxDepth: 2,
  calls: { 'files/read': 8, 'mail/send': 2 },
};

function learned(times: number, session = usual): WorkflowBaseline | undefined {
  let baseline: WorkflowBaseline | undefined;
  for (let i = 0; i < times; i++) baseline = learn(baseline, session);
  return baseline;
}

const typesOf = (baseline: WorkflowBaseline | undefined, over: Partial<SessionMeasures>) =>
  findAnomalies(baseline, { ...usual, ...over }).map(({ alertType }) => alertType);

describe('a workflow’s baseline', () => {
  it('weighs the newest session with a fifth', () => {
    const baseline = learn(learned(3), {
      durationSeconds: 200,
      maxDepth: 7,
      calls: { 'mail/send': 1 },
    });
    expect(baseline).toEqual({
      sessions: 4,
      durationSeconds: 120,
      maxDepth: 3,
      tools: { 'files/read': 0.64, 'mail/send': 0.36 },
    });
  });

  it('finds nothing unusual before it has learned, and nothing in what is usual', () => {
    const odd = { durationSeconds: 9_000, maxDepth: 50, calls: { x: 99 } };
    expect(typesOf(undefined, odd)).toEqual([]);
    expect(typesOf(learned(4), odd)).toEqual([]);
    expect(typesOf(learned(5), {})).toEqual([]);
  });

  it.each([
    ['WORKFLOW_DEPTH_SPIKE', { maxDepth: 5 }],
    ['WORKFLOW_TOOL_DISTRIBUTION_ANOMALY', { calls: { 'files/read': 2, 'files/delete': 8 } }],
    ['WORKFLOW_DURATION_ANOMALY', { durationSeconds: 301 }],
    ['WORKFLOW_DURATION_ANOMALY', { durationSeconds: 33 }],
  ])('finds %s in %j', (type, over) => {
    expect(typesOf(learned(5), over)).toEqual([type]);
  });

  it.each([
    [{ maxDepth: 4 }],
    [{ calls: { 'files/read': 4, 'files/delete': 5, 'mail/send': 2 } }],
    [{ calls: { 'files/delete': 4 } }],
    [{ durationSeconds: 299 }],
    [{ durationSeconds: 34 }],
  ])('finds nothing in %j', (over) => {
    expect(typesOf(learned(5), over)).toEqual([]);
  });

  it('stays within what was seen, whatever the names of tools', () => {
    const name = fc.constantFrom('a', 'b', '__proto__', 'constructor', 'toString');
    const calls = fc
      .array(fc.tuple(name, fc.integer({ min: 1, max: 50 })), { maxLength: 5 })
      .map((entries) => Object.fromEntries(entries));
    const session = fc.record({
      durationSeconds: fc.integer({ min: 0, max: 1_000 }),
      maxDepth: fc.integer({ min: 0, max: 64 }),
      calls,
    });
    fc.assert(
      fc.property(fc.array(session, { minLength: 1, maxLength: 12 }), (sessions) => {
        let baseline: WorkflowBaseline | undefined;
        for (const one of sessions) {
          findAnomalies(baseline, one);
          baseline = learn(baseline, one);
        }
        const parts = Object.values(baseline?.tools ?? {});
        expect(parts.reduce((sum, one) => sum + one, 0)).toBeLessThan(1.001);
        expect(parts.every((one) => one >= 0)).toBe(true);
        expect(baseline?.maxDepth).toBeLessThanOrEqual(64);
      }),
    );
  });
});
