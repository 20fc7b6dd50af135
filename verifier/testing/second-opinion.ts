/** Runs the second implementation (verifier/second-opinion), which shares no code with this one. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const program = fileURLToPath(new URL('../second-opinion/verify.py', import.meta.url));
/** Does not write compiled modules beside the sources. */
const PYTHON = ['python3', '-B'] as const;
const MAX_OUTPUT = 256 * 1024 * 1024;

const Reports = z.array(
  z.object({
    verdict: z.string(),
    checks: z.array(
      z.object({
        name: z.string(),
        status: z.string(),
        detail: z.string(),
        checked: z.int(),
        total: z.int(),
      }),
    ),
  }),
);

/** What the two implementations must agree on. */
export interface Opinion {
  verdict: string;
  /** The status of each check. */
  checks: Record<string, string>;
}

export function opinionOf(report: {
  verdict: string;
  checks: readonly { name: string; status: string }[];
}): Opinion {
  const { verdict, checks } = report;
  return { verdict, checks: Object.fromEntries(checks.map((one) => [one.name, one.status])) };
}

/** @returns why it cannot be run here; undefined when it can */
export function findMissingPython(): string | undefined {
  const [python, ...options] = PYTHON;
  const args = [...options, '-c', 'import cryptography'];
  const { status, error, stderr } = spawnSync(python, args, { encoding: 'utf8' });
  if (status === 0) return undefined;
  if (error) return `the second verifier needs python3, which is not here: ${error.message}`;
  return `the second verifier needs Python's package cryptography (python3 -m pip install cryptography): ${stderr}`;
}

/**
 * Its verdicts on packages that share one anchor.
 *
 * @param packages paths
 * @param anchor the anchor's path; null: without one
 * @throws Error when it cannot be run, or prints no reports
 */
export function secondOpinions(packages: readonly string[], anchor: string | null): Opinion[] {
  return secondReports(packages, anchor).map(opinionOf);
}

/** The same with every count. */
export function secondReports(packages: readonly string[], anchor: string | null) {
  return Reports.parse(run([...packages, ...trustOf(anchor)]));
}

const SetReport = z.object({
  verdict: z.string(),
  checks: z.array(
    z.object({ name: z.string(), status: z.string(), checked: z.int(), total: z.int() }),
  ),
  volumes: z.array(z.object({ verdict: z.string() })),
});

/** Its verdict on a set of volumes; otherwise like `secondOpinions`. */
export function secondOpinionOfSet(volumes: readonly string[], anchor: string | null) {
  const report = SetReport.parse(run([...volumes, ...trustOf(anchor), '--set']));
  return {
    verdict: report.verdict,
    checks: Object.fromEntries(report.checks.map(({ name, ...counts }) => [name, counts])),
    volumes: report.volumes.map(({ verdict }) => verdict),
  };
}

const trustOf = (anchor: string | null): string[] =>
  anchor === null ? [] : ['--trust-anchor', anchor];

function run(given: readonly string[]): unknown {
  const [python, ...options] = PYTHON;
  const { stdout, stderr, error } = spawnSync(python, [...options, program, ...given, '--json'], {
    encoding: 'utf8',
    maxBuffer: MAX_OUTPUT,
  });
  if (error) throw error;
  if (stdout === '') throw new Error(`the second verifier said nothing: ${stderr}`);
  return JSON.parse(stdout);
}
