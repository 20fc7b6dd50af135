/**
 * Has witnesses cosign the newest checkpoint of each tenant's log, at intervals. A line is verified
 * before it is kept. A witness that holds a larger log than this one is a break: the log was rolled
 * back. Proven by witnesses.pg.test.ts.
 */

import { parseCheckpoint } from '@governance/shared/evidence/checkpoint';
import type { WitnessKey } from '@governance/shared/evidence/trust-anchor';
import { findCosignature, writeAddCheckpoint } from '@governance/shared/evidence/witness-protocol';
import {
  describeOutboundFailure,
  type OutboundClient,
} from '@governance/shared/outbound/outbound-client';
import { DAY_MS, HOUR_MS } from '@governance/shared/time/durations';
import { Counter, type Registry } from 'prom-client';
import type { ChainBreakRecorder } from '../../chain/chain-breaks.ts';
import type { StoredCheckpoint } from '../../chain/signed-place-rows.ts';
import { forEachTenant } from '../../platform/database/each-tenant.ts';
import { systemScope, type TenantDatabase } from '../../platform/database/tenant-scope.ts';
import type { LeaderTask } from '../../platform/replicas/leader.ts';
import { logStore } from '../log-store.ts';
import { MAX_LOG_BREAKS } from '../watchers/log-watch-check.ts';
import { watchStore } from '../watchers/watch-store.ts';
import { askWitness } from './ask-witness.ts';
import { type WitnessState, witnessStore } from './witness-store.ts';

export interface Witness extends WitnessKey {
  url: string;
}

const EVERY_MS = 60_000;
/** The pause after failures grows with their duration, up to this limit. */
const LONGEST_REST_MS = HOUR_MS;
const DENSE_MS = 7 * DAY_MS;

export interface WitnessTaskDeps {
  db: Pick<TenantDatabase, 'inTenant' | 'inPlatform'>;
  witnesses: readonly Witness[];
  outbound: OutboundClient;
  breaks: Pick<ChainBreakRecorder, 'record'>;
  registry: Registry;
  now: () => Date;
}

export interface WitnessTask extends LeaderTask {
  /** Asks the witnesses that are due. A witness's failure is stored, not thrown. */
  cosign(tenantId: string, signal: AbortSignal): Promise<void>;
  /** Also asks those that are paused: their fault may be fixed, and a caller is waiting. */
  cosignNow(tenantId: string, signal: AbortSignal): Promise<void>;
}

export function createWitnessTask(deps: WitnessTaskDeps): WitnessTask {
  const { db, now } = deps;
  const asked = new Counter({
    name: 'governance_witness_requests_total',
    help: 'Checkpoints that a witness was asked to cosign, by whether it did',
    labelNames: ['witness', 'outcome'],
    registers: [deps.registry],
  });

  async function askAll(
    tenantId: string,
    signal: AbortSignal,
    isWanted: (state: WitnessState | undefined, newest: StoredCheckpoint) => boolean,
  ): Promise<void> {
    if (deps.witnesses.length === 0) return;
    const scope = systemScope(tenantId);
    const { newest, states } = await db.inTenant(scope, async (tx) => {
      const store = logStore(tx);
      const { epoch } = await store.findHead();
      await witnessStore(tx).thin(new Date(now().getTime() - DENSE_MS));
      const states = await witnessStore(tx).list();
      return { newest: await store.findCheckpoint({ epoch }), states };
    });
    if (!newest) return;
    await Promise.all(
      deps.witnesses.map(async (witness) => {
        const state = states.find((one) => one.witness === witness.name);
        if (!isWanted(state, newest)) return;
        const failure = await ask(tenantId, witness, newest, state, signal);
        if (signal.aborted) return;
        const outcome = failure === undefined ? 'cosigned' : 'failed';
        asked.inc({ witness: witness.name, outcome });
        if (failure === undefined) return;
        await db.inTenant(scope, (tx) => witnessStore(tx).fail(witness.name, failure, now()));
      }),
    );
  }

  /** @returns the failure; undefined after a success */
  async function ask(
    tenantId: string,
    witness: Witness,
    newest: StoredCheckpoint,
    state: WitnessState | undefined,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    // Witnesses identify a log by its origin: another epoch is another log to them.
    let old = state && state.epoch === newest.epoch ? state.size : 0;
    try {
      // The witness may hold another size than is remembered here; it then reports its size.
      for (let tries = 0; tries < 2; tries++) {
        const body = await writeRequest(tenantId, old, newest);
        const answer = await askWitness(deps.outbound, witness.url, body, signal);
        if (answer.kind === 'refused') return answer.why;
        if (answer.kind === 'cosigned') {
          const { body: signed } = parseCheckpoint(newest.note);
          const line = findCosignature(answer.lines, signed, witness);
          if (line === undefined) return 'its cosignature does not verify';
          await db.inTenant(systemScope(tenantId), (tx) =>
            witnessStore(tx).keep(witness.name, newest, line, now()),
          );
          return undefined;
        }
        if (answer.size > newest.size) return await recordAhead(tenantId, witness, newest, answer);
        old = answer.size;
      }
      return 'it reported a different size at each attempt';
    } catch (error) {
      return describeOutboundFailure(error);
    }
  }

  const writeRequest = (tenantId: string, old: number, newest: StoredCheckpoint) =>
    db.inTenant(systemScope(tenantId), async (tx) => {
      const path = await logStore(tx).proveConsistency(old, newest.size);
      return writeAddCheckpoint(old, path, newest.note);
    });

  async function recordAhead(
    tenantId: string,
    { name }: Witness,
    newest: StoredCheckpoint,
    { size }: { size: number },
  ): Promise<string | undefined> {
    // Another replica may have taken the lead and had a larger size cosigned meanwhile.
    const { head, isFull } = await db.inTenant(systemScope(tenantId), async (tx) => ({
      head: await logStore(tx).findHead(),
      isFull: (await watchStore(tx).countBreaks()) >= MAX_LOG_BREAKS,
    }));
    if (head.epoch !== newest.epoch || head.size >= size) return undefined;
    if (isFull) return 'it says that it holds a larger log';
    await deps.breaks.record(tenantId, [
      {
        stream: tenantId,
        epoch: newest.epoch,
        seq: size,
        kind: 'log_went_back',
        expected: `log epoch ${newest.epoch}, ${size} leaves`,
        actual: `log epoch ${head.epoch}, ${head.size} leaves`,
        detail: `witness ${name} says that it cosigned it`,
      },
    ]);
    return 'it says that it holds a larger log';
  }

  const cosign = (tenantId: string, signal: AbortSignal) =>
    askAll(tenantId, signal, (state, newest) => isDue(state, newest, now()));

  return {
    name: 'log_witnesses',
    everyMs: EVERY_MS,
    cosign,
    cosignNow: (tenantId, signal) => askAll(tenantId, signal, isBehind),
    run: async (signal) => {
      if (deps.witnesses.length > 0) await forEachTenant(db, signal, (id) => cosign(id, signal));
    },
  };
}

function isDue(state: WitnessState | undefined, newest: StoredCheckpoint, now: Date): boolean {
  if (!state?.failingSince) return isBehind(state, newest);
  const failedMs = state.askedAt.getTime() - state.failingSince.getTime();
  const restedMs = now.getTime() - state.askedAt.getTime();
  // Asked by a clock that was ahead: waiting for that time could take as long as it was ahead.
  return restedMs < 0 || restedMs >= Math.min(failedMs, LONGEST_REST_MS);
}

function isBehind(state: WitnessState | undefined, newest: StoredCheckpoint): boolean {
  if (!state || state.failingSince) return true;
  return state.epoch !== newest.epoch || state.size < newest.size;
}
