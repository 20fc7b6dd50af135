/**
 * Races between an approval, a denial, a time-out, clients that leave and come back, and restarts:
 * exactly one of them wins, and at most one call uses it.
 */
import type { EscalationFact } from '@governance/shared/channel/facts';
import { uuidv7 } from '@governance/shared/ids';
import { GRANT_MS } from '@governance/shared/settings/hold-settings';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { HoldChange } from '../contracts.ts';
import { askedBy, NOTHING_ASKED } from './asked-reasons.ts';
import { createHeldCalls, type HeldCalls } from './held-calls.ts';
import { bindingOfResult } from './hold.ts';
import type { Approval, HoldEnd } from './kept-hold.ts';

const TENANT = uuidv7();
const AGENT = uuidv7();
const TIMEOUT_MS = 60_000;

/** A call of this binding, for reasons of these policies. */
function aHold(binding: string, policies: readonly string[]) {
  const reasons = policies.map((policy_id) => ({
    ...{ policy_id, policy: policy_id },
    rule: 'escalate' as const,
    message: 'ask',
  }));
  const question = { reasons, revision: 1 };
  const place = { tenantId: TENANT, agentId: AGENT, binding, question, asked: askedBy(question) };
  const by = { proof: null, isCurrent: () => true };
  return { ...place, ...by, id: uuidv7(), timeoutMs: TIMEOUT_MS };
}

/** The disk, and what the control plane has said. Both survive a restart. */
function createWorld() {
  const rows = new Map<string, string>();
  const facts = new Map<string, EscalationFact>();
  let listener: (tenantId: string, id: string | null) => void = () => undefined;
  const world = {
    now: 1_700_000_000_000,
    /** How far the machine's clock is off. */
    wrongBy: 0,
    rows,
    facts,
    write: (changes: readonly HoldChange[]) => {
      for (const { id, value } of changes) {
        if (value === null) rows.delete(id);
        else rows.set(id, value);
      }
    },
    /** The row at the control plane is resolved once. */
    resolve(id: string, resolution: EscalationFact['resolution']) {
      if (id === '' || facts.has(id)) return;
      const expires_at = new Date(world.now + GRANT_MS).toISOString();
      const grant = resolution === 'approved' ? { id: uuidv7(), expires_at } : null;
      const resolved_at = new Date(world.now).toISOString();
      const place = { escalation_id: id, deployment_id: uuidv7() };
      facts.set(id, { ...place, resolution, resolved_at, grant });
      listener(TENANT, id);
    },
    start(): HeldCalls {
      const held = createHeldCalls({
        ledger: {
          readHolds: () => [...rows.values()],
          writeHolds: async (changes) => world.write(changes),
        },
        replica: {
          findEscalation: (_tenant, id) => facts.get(id),
          onEscalation: (heard) => {
            listener = heard;
            return () => undefined;
          },
        },
        now: () => world.now + world.wrongBy,
        elapsed: () => world.now,
      });
      held.load(TENANT);
      return held;
    },
  };
  return world;
}

type Command =
  | { do: 'call'; binding: string; policies: string[] }
  | { do: 'resolve'; nth: number; as: EscalationFact['resolution'] }
  | { do: 'leave' | 'restart' | 'time' }
  /** What becomes of an approval that was given to a request. */
  | { do: 'use' | 'give back'; nth: number };

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('call' as const),
      binding: fc.constantFrom('a', 'b'),
      policies: fc.subarray(['p', 'q'], { minLength: 1 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('resolve' as const),
      nth: fc.nat(3),
      as: fc.constantFrom('approved', 'denied', 'timed_out'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('leave', 'restart', 'time') }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('use', 'give back'), nth: fc.nat(3) }),
  },
);

it('lets each approval be used once, and nothing else', async () => {
  vi.useFakeTimers();
  // Long sequences: the faults need several requests at one hold.
  const many = fc.array(command, { minLength: 10, maxLength: 60, size: 'max' });
  const property = fc.asyncProperty(many, async (commands) => {
    const world = createWorld();
    let held = world.start();
    const opened: string[] = [];
    const seen = new Map<string, readonly string[]>();
    const given: Approval[] = [];
    const used: string[] = [];
    const ends: {
      id: string;
      end: HoldEnd;
      policies: readonly string[];
      told: EscalationFact | undefined;
    }[] = [];

    async function calls(binding: string, policies: readonly string[]) {
      const place = held.join(aHold(binding, policies));
      if (place === undefined) return;
      if (place.isNew) {
        opened.push(place.hold.id);
        seen.set(place.hold.id, policies);
        world.write(place.changes);
      }
      void place
        .wait(50_000, () => undefined)
        .then((end) => {
          const { id } = place.hold;
          ends.push({ id, end, policies, told: world.facts.get(id) });
          if (end.kind === 'approved') given.push(end.approval);
        });
      await Promise.resolve();
    }

    for (const one of commands) {
      if (one.do === 'call') await calls(one.binding, one.policies);
      else if ('as' in one) world.resolve(opened[one.nth] ?? '', one.as);
      else if (one.do === 'leave') held.endWaits();
      else if (one.do === 'time') world.now += TIMEOUT_MS / 2;
      else if (one.do === 'restart') {
        held.stop();
        // A restart loses the requests in progress.
        given.length = 0;
        held = world.start();
      } else if ('nth' in one) {
        const approval = given.splice(one.nth % Math.max(1, given.length), 1)[0];
        if (approval && one.do === 'use') {
          world.write(approval.changes);
          approval.used();
          used.push(approval.escalationId);
        }
        approval?.release();
      }
      await vi.advanceTimersByTimeAsync(0);
    }
    for (const { id, end, policies, told } of ends) {
      const fact = world.facts.get(id);
      if (end.kind === 'denied') expect(fact?.resolution).toBe('denied');
      if (told?.resolution === 'denied') expect(end.kind).toBe('denied');
      if (end.kind !== 'approved') continue;
      expect(fact).toMatchObject({ resolution: 'approved', grant: { id: end.approval.id } });
      // No request uses an approval for reasons that the person did not see.
      expect(seen.get(id)).toEqual(expect.arrayContaining([...policies]));
    }
    expect(new Set(used).size).toBe(used.length);
    for (const id of used) {
      expect(world.facts.get(id)?.resolution).toBe('approved');
      expect(world.rows.has(id)).toBe(false);
    }
    held.stop();
  });
  try {
    await fc.assert(property, { numRuns: 300 });
  } finally {
    vi.useRealTimers();
  }
});

it('forgets what has ended, on disk too', async () => {
  vi.useFakeTimers();
  const world = createWorld();
  const held = world.start();
  const place = held.join(aHold('a', ['p']));
  world.write(place?.changes ?? []);
  expect(held.countPending(TENANT)).toBe(1);
  expect(world.rows.size).toBe(1);
  world.now += TIMEOUT_MS + 3_600_000;
  await vi.advanceTimersByTimeAsync(2_000);
  expect(held.countPending(TENANT)).toBe(0);
  expect(world.rows.size).toBe(0);
  held.stop();
  vi.useRealTimers();
});

describe("a machine's clock that is wrong", () => {
  const HOUR_MS = 3_600_000;

  function aHeldCall() {
    vi.useFakeTimers();
    const world = createWorld();
    const held = world.start();
    const asked = aHold('a', ['p']);
    world.write(held.join(asked)?.changes ?? []);
    const again = async () => {
      const place = held.join({ ...asked, id: uuidv7() });
      const waits = place?.wait(1, () => undefined);
      await vi.advanceTimersByTimeAsync(2_000);
      return { isNew: place?.isNew, end: await waits };
    };
    const stop = () => {
      held.stop();
      vi.useRealTimers();
    };
    return { world, id: asked.id, again, stop };
  }

  it.each([3 * HOUR_MS, -3 * HOUR_MS])('by %i ms for a moment loses no hold', async (wrongBy) => {
    const { world, id, again, stop } = aHeldCall();
    world.wrongBy = wrongBy;
    expect(await again()).toMatchObject({ isNew: false, end: { kind: 'pending' } });
    world.wrongBy = 0;
    world.resolve(id, 'approved');
    expect(await again()).toMatchObject({ isNew: false, end: { kind: 'approved' } });
    stop();
  });

  it('at a restart loses no held result', async () => {
    vi.useFakeTimers();
    const world = createWorld();
    const of = { tenantId: TENANT, agentId: AGENT, binding: bindingOfResult('a') };
    const id = uuidv7();
    const first = world.start();
    const asked = { ...of, id, asked: NOTHING_ASKED, proof: null, timeoutMs: TIMEOUT_MS };
    world.write(first.join(asked)?.changes ?? []);
    first.stop();
    world.wrongBy = 3 * HOUR_MS;
    const held = world.start();
    await vi.advanceTimersByTimeAsync(2_000);
    world.wrongBy = 0;
    world.resolve(id, 'approved');
    const place = held.findResult(TENANT, of.binding);
    expect(await place?.wait(1, () => undefined)).toMatchObject({ kind: 'approved' });
    held.stop();
    vi.useRealTimers();
  });

  it('and set back prolongs neither an approval nor a wait', async () => {
    const { world, id, again, stop } = aHeldCall();
    world.wrongBy = -3 * HOUR_MS;
    world.now += TIMEOUT_MS + 6_000;
    expect(await again()).toMatchObject({ end: { kind: 'timed_out' } });
    world.resolve(id, 'approved');
    world.now += GRANT_MS;
    expect(await again()).toMatchObject({ isNew: true });
    stop();
  });
});
