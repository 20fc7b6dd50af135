/**
 * The groups of words with similar meanings: `word-groups.txt`, one group a line. They were computed
 * once, by k-means over the word vectors of WordLlama 0.4.0 (MIT licence), and are a source like the
 * texts.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { examineText } from '@governance/shared/detect/inbound/examine';
import { writeWordGroups } from '@governance/shared/detect/inbound/word-groups';
import { projectRoot } from '@governance/shared/process/assets';

/** A passage has at least this many words. */
const REPEATED = 4;

/** @returns what model.json holds of them */
export function wordGroupsFile(): string {
  const path = join(projectRoot, 'scripts/train-inbound/word-groups.txt');
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  const groups = new Map<number, number>();
  lines.forEach((line, group) => {
    for (const word of line.split(' ')) groups.set(numberOf(word), group);
  });
  return writeWordGroups(groups);
}

/** The number that a reader of texts gives a word. */
function numberOf(word: string): number {
  const [read] = examineText(`${word} `.repeat(REPEATED), 'result');
  const { words, from } = read?.passages[0]?.wording ?? {};
  if (words === undefined || from === undefined) throw new Error(`not a word: ${word}`);
  return words[from] as number;
}
