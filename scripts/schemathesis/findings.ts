/** Reads Schemathesis's report: every failed check, with the answer that failed it. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { z } from 'zod';

export interface Finding {
  check: string;
  operation: string;
  status: number | null;
  /** The answer's detail, if it is one of our errors. */
  detail: string;
  message: string;
}

export interface Run {
  cases: number;
  /** Whether the run was completed. */
  isComplete: boolean;
  findings: Finding[];
}

const Check = z.object({
  name: z.string(),
  status: z.string(),
  failure_info: z
    .object({
      failure: z.object({
        operation: z.string().optional(),
        title: z.string().optional(),
        message: z.string().optional(),
      }),
    })
    .nullish(),
});
const Interaction = z.object({
  response: z
    .object({ status_code: z.int(), content: z.object({ $base64: z.string() }).nullish() })
    .nullish(),
});
const Recorder = z.object({
  label: z.string(),
  cases: z.record(z.string(), z.unknown()).default({}),
  checks: z.record(z.string(), z.array(Check)).default({}),
  interactions: z.record(z.string(), Interaction).default({}),
});
const Event = z.looseObject({
  ScenarioFinished: z.object({ recorder: Recorder }).optional(),
  EngineFinished: z.object({ stop_reason: z.string() }).optional(),
  NonFatalError: z.looseObject({ label: z.string().optional() }).optional(),
  FatalError: z.unknown().optional(),
});

/** Reads the report of a run: one event per line. */
export async function readFindings(file: string): Promise<Run> {
  const run: Run = { cases: 0, isComplete: false, findings: [] };
  for await (const line of createInterface({ input: createReadStream(file) })) {
    if (line === '') continue;
    const event = Event.parse(JSON.parse(line));
    if (event.EngineFinished) run.isComplete = event.EngineFinished.stop_reason === 'completed';
    const failed = event.NonFatalError ?? event.FatalError;
    if (failed !== undefined) run.findings.push(ownError(event.NonFatalError?.label, failed));
    const recorder = event.ScenarioFinished?.recorder;
    if (!recorder) continue;
    run.cases += Object.keys(recorder.interactions).length;
    run.findings.push(...failedChecks(recorder));
  }
  return run;
}

/** Schemathesis could not continue with an operation. */
function ownError(operation: string | undefined, error: unknown): Finding {
  const message = JSON.stringify(error).slice(0, 500);
  return { check: 'error', operation: operation ?? '', status: null, detail: '', message };
}

function failedChecks({ label, checks, interactions }: z.infer<typeof Recorder>): Finding[] {
  return Object.entries(checks).flatMap(([id, ofCase]) =>
    ofCase
      .filter(({ status }) => status !== 'success')
      .map(({ name, failure_info }) => {
        const { operation = label, title = '', message = '' } = failure_info?.failure ?? {};
        const { response } = interactions[id] ?? {};
        return {
          check: name,
          operation,
          status: response?.status_code ?? null,
          detail: readDetail(response?.content?.$base64),
          message: `${title}: ${message}`.slice(0, 500),
        };
      }),
  );
}

function readDetail(content: string | undefined): string {
  try {
    const body: unknown = JSON.parse(Buffer.from(content ?? '', 'base64').toString());
    return z.object({ detail: z.string() }).parse(body).detail;
  } catch {
    return '';
  }
}
