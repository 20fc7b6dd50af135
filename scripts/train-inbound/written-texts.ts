/**
 * Attacks and ordinary texts written one by one: `written/*.txt`. A text begins with a line
 * `### attack CLASS LANGUAGE GENRE` or `### benign - LANGUAGE GENRE`; the attack within its text is
 * marked by `[[` and `]]`. Those of the genre `tooldesc` are what a server publishes of itself.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { INBOUND_CLASSES } from '@governance/shared/detect/findings';
import { projectRoot } from '@governance/shared/process/assets';
import type { TrainingText } from './training-text.ts';

const HEADER = /\n### (?=attack |benign )/;
const MARKS = /\[\[|\]\]/;

export interface WrittenText extends TrainingText {
  /** The file it stands in, without `.txt`. */
  readonly file: string;
}

/** @throws Error that names the file and the header of a malformed text */
export function writtenTexts(): WrittenText[] {
  const folder = join(projectRoot, 'scripts/train-inbound/written');
  return readdirSync(folder)
    .sort()
    .flatMap((name) => readWritten(readFileSync(join(folder, name), 'utf8'), name));
}

/** How often the texts count that are as a red team's week and ordinary work bring them. */
const NATURAL_TIMES = 3;

/** How often a text counts: those of `natural-*.txt` more, since the others were written to be hard. */
export const timesOf = ({ file }: WrittenText): number =>
  file.startsWith('natural') ? NATURAL_TIMES : 1;

/** Each text as often as it counts. */
export const weighted = (texts: readonly WrittenText[]): WrittenText[] =>
  texts.flatMap((text) => Array.from({ length: timesOf(text) }, () => text));

/** @throws Error that names the file and the header of a malformed text */
export function readWritten(content: string, name: string): WrittenText[] {
  const [, ...records] = `\n${content}`.split(HEADER);
  const file = name.replace('.txt', '');
  return records.map((record) => ({ ...readRecord(record, name), file }));
}

function readRecord(record: string, file: string): TrainingText {
  const end = record.indexOf('\n');
  const header = record.slice(0, end);
  const [kind, name, , genre] = header.split(' ');
  const isDescription = genre === 'tooldesc';
  // Texts and marks alternate: every second piece is an attack.
  const pieces = record.slice(end).trim().split(MARKS);
  const text = pieces.join('');
  if (kind === 'benign' && pieces.length === 1 && text !== '') return { text, kind, isDescription };
  const found = INBOUND_CLASSES.find((known) => known === name);
  if (kind !== 'attack' || found === undefined || pieces.length < 3 || pieces.length % 2 === 0) {
    throw new Error(`${file}: '${header}' is not of the format`);
  }
  let at = 0;
  const spans = pieces.flatMap((piece, index) => {
    const start = at;
    at += piece.length;
    return index % 2 === 1 ? [{ start, end: at }] : [];
  });
  return { text, kind, class: found, spans, isDescription };
}
