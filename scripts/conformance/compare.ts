/** Compares what the conformance suite found at a server with what it found through the gateway. */

/** One check of one scenario, as the suite wrote it. */
export interface Check {
  scenario: string;
  id: string;
  status: string;
  errorMessage?: string | undefined;
}

/** A check beside its like; `-` where the suite did not come to it. */
export interface Compared {
  check: string;
  alone: string;
  through: string;
  /** Why it did not succeed through the gateway, in the suite's words. */
  message?: string | undefined;
}

/**
 * Puts the checks of two runs side by side.
 *
 * A scenario may make a check several times: the first is compared with the first. What the suite
 * notes in both (INFO: requests and events as they pass) is no check; where it made a check of one
 * and a note of the other, they differ.
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

/** The rows where the two runs are not the same. */
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
