/**
 * Texts that no training used. A text begins with a line `### attack CLASS LANGUAGE GENRE` or
 * `### benign - LANGUAGE GENRE`; an attack is marked by `[[` and `]]`.
 * - `contrasts/*.txt`: attacks and ordinary texts that differ in little but whom they address
 * - `authors/*.txt`: by authors who wrote no training text
 * - `natural-hard/*.txt`: by authors who were asked for what detectors mistake
 * - `business/*.txt`: by authors who were asked for polite attacks in the texts of service desks
 * - `quoting/*.txt`: by authors who were asked for code and articles that quote whole attacks
 * - `plain/*.txt`: by authors who were asked for the short and blunt texts of an afternoon's test
 * - `goal/*.txt`: by authors who were asked for what the detector's goal names
 * - `tools/*.txt`: by authors who were asked for what servers publish of themselves
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '@governance/shared/process/assets';
import type { TestText } from './texts.ts';

const HEADER = /\n### (?=attack |benign )/;
const MARKS = /\[\[|\]\]/g;

export const contrastTexts = (): TestText[] => readTexts('contrasts');

export const authorTexts = (): TestText[] => readTexts('authors');

export const hardNaturalTexts = (): TestText[] => readTexts('natural-hard');

export const businessTexts = (): TestText[] => readTexts('business');

export const quotingTexts = (): TestText[] => readTexts('quoting');

export const plainTexts = (): TestText[] => readTexts('plain');

export const goalTexts = (): TestText[] => readTexts('goal');

/** What servers publish of themselves, honest and poisoned: descriptions and instructions. */
export const toolTexts = (): TestText[] =>
  readTexts('tools').map((text) => ({ ...text, isDescription: true }));

/** @throws Error that names the file and the header of a malformed text */
function readTexts(
  name:
    | 'contrasts'
    | 'authors'
    | 'natural-hard'
    | 'business'
    | 'quoting'
    | 'plain'
    | 'goal'
    | 'tools',
): TestText[] {
  const folder = join(projectRoot, 'scripts/eval-inbound', name);
  return readdirSync(folder).flatMap((file) => {
    const content = readFileSync(join(folder, file), 'utf8');
    const [, ...records] = `\n${content}`.split(HEADER);
    return records.map((record) => readRecord(record, file));
  });
}

function readRecord(record: string, file: string): TestText {
  const [header = '', ...lines] = record.trim().split('\n');
  const [kind, name, language, genre] = header.split(' ');
  const marked = lines.join('\n');
  const isAttack = kind === 'attack' && marked.includes('[[');
  if (!(isAttack || kind === 'benign') || !name || !language || !genre || marked === '') {
    throw new Error(`${file}: '${header}' is not of the format`);
  }
  const carrier = file.replace('.txt', '');
  return isAttack
    ? { text: marked.replace(MARKS, ''), kind: 'attack', class: name, language, carrier }
    : { text: marked, kind: 'benign', class: 'ordinary', language, carrier };
}
