/** Long texts in stretches: what reads them at once would need more memory than it may have. */
import { isInRun } from './decode/runs.ts';
import type { Found } from './found.ts';
import { MAX_FINDINGS } from './scan-contract.ts';

/** UTF-16 units of a stretch. Some disguises are four times as long without them. */
const STRETCH = 2_000_000;
/** What two stretches have in common: more than a finding has. */
const OVERLAP = 20_000;
/** Bytes in base64 and base32 begin anew at each multiple of so many characters. */
const ENCODED = 8;

/** Findings in a text; a long one is read stretch by stretch, and what two of them show is there twice. */
export function inStretches(text: string, find: (stretch: string) => Found[]): Found[] {
  if (text.length <= STRETCH) return find(text);
  const found: Found[] = [];
  for (const at of stretchStarts(text)) {
    for (const one of find(text.slice(at, at + STRETCH))) {
      found.push({ ...one, start: one.start + at, end: one.end + at });
    }
    if (found.length >= MAX_FINDINGS) break;
  }
  return found;
}

/** Where stretches begin; within an encoded run where its bytes do. */
function* stretchStarts(text: string): Generator<number> {
  yield 0;
  // Where the run began in which a stretch begins: looked for once, however many stretches it has.
  let run = 0;
  for (let at = STRETCH - OVERLAP; at + OVERLAP < text.length; at += STRETCH - OVERLAP) {
    const before = at - (STRETCH - OVERLAP);
    let start = at;
    while (start > before && isInRun(text, start - 1)) start -= 1;
    if (start === 0 || !isInRun(text, start - 1)) run = start;
    yield at - ((at - run) % ENCODED);
  }
}
