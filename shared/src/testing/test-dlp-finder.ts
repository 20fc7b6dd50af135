import { afterAll } from 'vitest';
import { createDlpScanner } from '../detect/dlp/scanner.ts';

/** A scanner, and what it finds in a text. Call it at the top of a test file. */
export function createDlpFinder() {
  const scanner = createDlpScanner();
  afterAll(() => scanner.close());
  /** The pattern of each finding, and the piece that it stands for. */
  const found = (text: string) =>
    scanner.scanText(text).map(({ pattern, start, length }) => ({
      pattern,
      text: text.slice(start, start + length),
    }));
  return { scanner, found };
}
