/**
 * `natural/*.jsonl`: JSON lines by authors who knew neither the detector nor other texts, and were
 * asked for what a red team sends in a week and for ordinary texts that detectors mistake.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '@governance/shared/assets';
import { z } from 'zod';

const TestLine = z.object({
  text: z.string(),
  kind: z.enum(['attack', 'benign']),
  class: z.string().optional(),
  language: z.string().optional(),
  carrier: z.string().optional(),
});
export type TestLine = z.infer<typeof TestLine>;

export function naturalTexts(): TestLine[] {
  const folder = join(projectRoot, 'scripts/eval-inbound/natural');
  return readdirSync(folder).flatMap((file) => readTestLines(join(folder, file)));
}

/** @throws Error when a line is not such a text */
export function readTestLines(path: string): TestLine[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => TestLine.parse(JSON.parse(line)));
}
