/** Splits long texts into stretches: reading them at once would exceed the memory limit. */
import { isInRun } from './decode/runs.ts';

/** UTF-16 units of a stretch. Removing some disguises makes it four times as long. */
const STRETCH = 2_000_000;
/** The overlap of two stretches: longer than any finding. */
const OVERLAP = 20_000;
/** Base64 and base32 start a new group of bytes at each multiple of this many characters. */
const ENCODED = 8;

/** Reads a text; a long one stretch by stretch. What an overlap contains is read twice. */
export function inStretches(text: string, read: (stretch: string, at: number) => void): void {
  if (text.length <= STRETCH) {
    read(text, 0);
    return;
  }
  for (const at of stretchStarts(text)) read(text.slice(at, at + STRETCH), at);
}

/** The starts of stretches; within an encoded run, at a group of its bytes. */
function* stretchStarts(text: string): Generator<number> {
  yield 0;
  // The start of the run that a stretch begins in; looked up once, however many stretches it spans.
  let run = 0;
  for (let at = STRETCH - OVERLAP; at + OVERLAP < text.length; at += STRETCH - OVERLAP) {
    const before = at - (STRETCH - OVERLAP);
    let start = at;
    while (start > before && isInRun(text, start - 1)) start -= 1;
    if (start === 0 || !isInRun(text, start - 1)) run = start;
    yield at - ((at - run) % ENCODED);
  }
}
