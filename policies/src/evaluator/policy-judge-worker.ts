/**
 * The thread that evaluates many recorded inputs with one compiled set. Fuel bounds each decision,
 * so every batch terminates.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { formatReasons, type PolicyOutcome } from '../contract.ts';
import { loadPolicyEngine } from './policy-engine.ts';
import type { Judged, JudgeMessage, Question } from './policy-judge.ts';

/** The longest reason that is shown. */
const MAX_REASON_CHARS = 500;

const port = parentPort;
if (!port) throw new Error('policy-judge-worker runs as a worker thread only');
const { wasm, data } = z
  .object({ wasm: z.instanceof(Uint8Array), data: z.unknown() })
  .parse(workerData);

let nowMs = 0;
const engine = await loadPolicyEngine(wasm, data, { now: () => nowMs });

function judge({ input, at }: Question): Judged {
  nowMs = at;
  return toJudged(engine.evaluateRaw(input));
}

function toJudged(outcome: PolicyOutcome): Judged {
  if (!outcome.ok) {
    return {
      decision: 'deny',
      policies: [],
      reason: shown(`${outcome.fault}: ${outcome.message}`),
    };
  }
  const { decision, reasons } = outcome.verdict;
  const deciding = reasons.filter(({ rule }) => rule === decision).slice(0, 20);
  const policies = [...new Set(deciding.map(({ policy }) => policy))];
  return {
    decision,
    policies,
    reason: deciding.length > 0 ? shown(formatReasons(deciding)) : null,
  };
}

function shown(text: string): string {
  return text.length > MAX_REASON_CHARS
    ? `${text.slice(0, MAX_REASON_CHARS).toWellFormed()}…`
    : text;
}

port.on('message', (questions: Question[]) => {
  port.postMessage({ kind: 'judged', judged: questions.map(judge) } satisfies JudgeMessage);
});
port.postMessage({ kind: 'ready' } satisfies JudgeMessage);
