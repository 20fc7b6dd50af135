import { ATTACKS, BENIGN } from './sentences.ts';

export interface TestText {
  readonly text: string;
  readonly kind: 'attack' | 'benign';
  /** An attack's class, or a benign text's genre. */
  readonly class: string;
  readonly language: string;
  readonly carrier: string;
  readonly isDescription?: boolean;
}

type Carrier = (sentence: string, before: string, after: string) => string;

/** Carriers that differ from those of the tuning half. */
const CARRIERS: Readonly<Record<string, Carrier>> = {
  alone: (sentence) => sentence,
  chat: (sentence, before, after) =>
    `[09:14] kim: ${before}\n[09:15] lee: ${sentence}\n[09:17] kim: ${after}`,
  yaml: (sentence, before) => `kind: record\nsummary: >\n  ${before}\nnotes: >\n  ${sentence}\n`,
  page: (sentence, before, after) =>
    `<article><h2>News</h2><p>${before}</p><p>${sentence}</p><footer>${after}</footer></article>`,
  table: (sentence, before, after) => `name\tnote\nA\t${before}\nB\t${sentence}\nC\t${after}\n`,
  comment: (sentence, before) =>
    `# ${before}\ndef total(items):\n    # ${sentence}\n    return sum(items)\n`,
};

/** Only for attacks: benign texts are seldom disguised. */
const DISGUISES: Readonly<Record<string, (sentence: string) => string>> = {
  'html comment': (sentence) => `<h1>Opening hours</h1>\n<!--${sentence}-->\n<p>Nine to five.</p>`,
  'white on white': (sentence) =>
    `<p>Menu</p><span style="color:#ffffff;font-size:1px">${sentence}</span>`,
  base64: (sentence) => `attachment=${Buffer.from(sentence).toString('base64')}`,
  reversed: (sentence) => [...sentence].reverse().join(''),
  'full width': (sentence) =>
    sentence.replace(/[a-zA-Z]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0)),
  'zero width': (sentence) => [...sentence].join('\u2060'),
};

/** Every sentence in every carrier, among benign sentences of its language. */
export function testTexts(): TestText[] {
  return (['attack', 'benign'] as const).flatMap((kind) =>
    Object.entries(kind === 'attack' ? ATTACKS : BENIGN).flatMap(([language, lines]) => {
      const around = linesOf(BENIGN[language] ?? '').filter(({ name }) => name !== 'security');
      return linesOf(lines).flatMap(({ name, sentence }, at) => {
        const before = around[(at * 3 + 1) % around.length]?.sentence ?? '';
        const after = around[(at * 5 + 2) % around.length]?.sentence ?? '';
        const carried = Object.entries(CARRIERS).map(([carrier, carry]) => ({
          carrier,
          text: carry(sentence, before, after),
        }));
        const hidden = Object.entries(kind === 'attack' ? DISGUISES : {}).map(
          ([carrier, hide]) => ({
            carrier,
            text: hide(sentence),
          }),
        );
        return [...carried, ...hidden].map((rest) => ({ ...rest, kind, class: name, language }));
      });
    }),
  );
}

function linesOf(lines: string): { name: string; sentence: string }[] {
  return lines.split('\n').map((line) => {
    const at = line.indexOf(': ');
    return { name: line.slice(0, at), sentence: line.slice(at + 2) };
  });
}
