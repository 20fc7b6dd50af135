/**
 * Compares the results of the conformance suite against a server directly and through the gateway.
 */

/** One check of one scenario, as reported by the suite. */
export interface Check {
  scenario: string;
  id: string;
  status: string;
  errorMessage?: string | undefined;
}

/** The results of one check, side by side; `-` where the suite did not reach it. */
export interface Compared {
  check: string;
  alone: string;
  through: string;
  /** Why it failed through the gateway, in the suite's words. */
  message?: string | undefined;
}

/**
 * Aligns the checks of two runs.
 *
 * A scenario may run a check several times: the first is compared with the first, and so on. INFO
 * entries in both runs (requests and events as they pass) are no checks; an entry that is a check
 * in one run and INFO in the other is a difference.
 *
 * @returns every check of either run, in the order of the first one
 */
export function compareChecks(alone: Check[], through: Check[]): Compared[] {
  const here = byName(alone);
  const there = byName(through);
  return [...new Set([...here.keys(), ...there.keys()])]
    .map((check) => ({
      check,
      alone: here.get(check)?.status ?? '-',
      through: there.get(check)?.status ?? '-',
      message: there.get(check)?.errorMessage,
    }))
    .filter((row) => !NOTES.has(row.alone) || !NOTES.has(row.through));
}

const NOTES = new Set(['INFO', '-']);

/** The rows in which the two runs differ. */
export function differences(rows: Compared[]): Compared[] {
  return rows.filter(({ alone, through }) => alone !== through);
}

function byName(checks: Check[]): Map<string, Check> {
  const named = new Map<string, Check>();
  const seen = new Map<string, number>();
  for (const check of checks) {
    const name = `${check.scenario} / ${check.id}`;
    const times = (seen.get(name) ?? 0) + 1;
    seen.set(name, times);
    named.set(times === 1 ? name : `${name} (${times})`, check);
  }
  return named;
}
