/**
 * JSON lines by authors who knew neither the detector nor other texts. `natural/*.jsonl`: what a red
 * team sends in a week, and ordinary texts that detectors mistake. `buyers/*.jsonl`: acceptance tests
 * of a bank's, a service desk's and a shop's evaluators.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '@governance/shared/process/assets';
import { z } from 'zod';

const TestLine = z.object({
  text: z.string(),
  kind: z.enum(['attack', 'benign']),
  class: z.string().optional(),
  language: z.string().optional(),
  carrier: z.string().optional(),
  /** Of a tool or parameter, or a server's instructions. */
  isDescription: z.boolean().optional(),
});
export type TestLine = z.infer<typeof TestLine>;

export const naturalTexts = (): TestLine[] => textsOf('natural');
export const buyersTexts = (): TestLine[] => textsOf('buyers');

function textsOf(name: 'natural' | 'buyers'): TestLine[] {
  const folder = join(projectRoot, 'scripts/eval-inbound', name);
  return readdirSync(folder).flatMap((file) => readTestLines(join(folder, file)));
}

/** @throws Error when a line is not such a text */
export function readTestLines(path: string): TestLine[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => TestLine.parse(JSON.parse(line)));
}
