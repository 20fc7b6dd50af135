import { StreamReport } from '@governance/shared/channel/channels';
import { describe, expect, it } from 'vitest';
import type { ShipperStatus } from './shipping-status.ts';
import { createStreamReporter, toStreamReport } from './stream-report.ts';

const at = '2026-01-02T03:04:05.678Z';
const failure = { stage: 'ship', code: 'UNAVAILABLE', message: 'away', at };
const shipper: ShipperStatus = {
  state: 'retrying',
  backlog: 3,
  last_shipped: null,
  last_attempt_at: at,
  failure,
  stop: null,
};
const facts = { shipper, ledger: 'ok', isFailing: false, now: Date.parse(at) } as const;

describe('what a heartbeat says of the stream', () => {
  it('is no stop while it is retried, and one when it persists although heartbeats are received', () => {
    const last_error = { code: 'UNAVAILABLE', message: 'away', at };
    const said = { backlog: 3, last_error, stopped_at: null };
    expect(toStreamReport(facts)).toEqual({ state: 'retrying', is_stopped: false, ...said });
    const failing = toStreamReport({ ...facts, isFailing: true });
    expect(failing).toEqual({ state: 'failing', is_stopped: true, ...said });
  });

  it.each(['full', 'failed'] as const)('is a stop where the ledger is %s', (ledger) => {
    const idle = { ...shipper, state: 'idle', failure: null } as const;
    expect(toStreamReport({ ...facts, shipper: idle, ledger })).toMatchObject({
      state: `ledger_${ledger}`,
      is_stopped: true,
      last_error: { code: `ledger_${ledger}` },
    });
  });

  it('can be carried, whatever a message holds', () => {
    const message = `\u0000\ud800${'x'.repeat(497)}\u{1f600}…`;
    const stop = { state: 'refused', failure: { ...failure, message }, at: { epoch: 1, seq: 2 } };
    const report = toStreamReport({ ...facts, shipper: { ...shipper, stop } as ShipperStatus });
    expect(StreamReport.parse(report)).toEqual(report);
    expect(report).toMatchObject({ state: 'refused', stopped_at: { epoch: 1, seq: 2 } });
  });
});

it('a heartbeat knows it once a batch was tried, and where it fails although heartbeats are received', () => {
  let isSettled = false;
  const reporter = createStreamReporter({
    shipper: { status: () => shipper, failingMs: () => 3_600_000, isSettled: () => isSettled },
    ledger: { status: () => ({ condition: 'ok', pendingRecords: 0 }) },
    now: () => facts.now,
  });
  // Nobody is told of an outage by a heartbeat: it would not arrive.
  expect(reporter.report().state).toBe('retrying');
  expect(reporter.findReport()).toBeUndefined();
  isSettled = true;
  expect(reporter.findReport()?.state).toBe('retrying');
  isSettled = false;
  reporter.heartbeatReceived();
  expect(reporter.findReport()).toMatchObject({ state: 'failing', is_stopped: true });
});
