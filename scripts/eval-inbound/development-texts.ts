/**
 * The development half: sentences independent of the training's, whose misses guided improvements
 * to the training. Each sentence counts two or three times, not once per carrier.
 */
import { ENGLISH_ATTACKS } from './development/english-attacks.ts';
import { ENGLISH_BENIGN } from './development/english-benign.ts';
import { OTHER_ATTACKS } from './development/other-attacks.ts';
import { OTHER_BENIGN } from './development/other-benign.ts';
import type { TestText } from './texts.ts';

type Carrier = readonly [
  name: string,
  carry: (sentence: string, before: string, after: string) => string,
];

const CARRIERS: readonly Carrier[] = [
  [
    'json',
    (sentence, before) =>
      JSON.stringify({ items: [{ id: 1, body: before }], remark: sentence, total: 1 }),
  ],
  [
    'mail',
    (sentence, before, after) =>
      `From: desk@inn.example\nTo: you\nSubject: News\n\n${before}\n\n${sentence}\n\n${after}\n`,
  ],
  [
    'ticket',
    (sentence, before) => `#812 [open] prio 2\nSummary: ${before}\nComment by guest: ${sentence}\n`,
  ],
  [
    'table',
    (sentence, before, after) =>
      `| no | text |\n|---|---|\n| 1 | ${before} |\n| 2 | ${sentence} |\n| 3 | ${after} |\n`,
  ],
  [
    'code',
    (sentence, before) =>
      `/**\n * ${before}\n * ${sentence}\n */\nexport function area(w: number, h: number) {\n  return w * h;\n}\n`,
  ],
  [
    'html',
    (sentence, before, after) =>
      `<!doctype html><body><h1>Fair</h1><p>${before}</p><ul><li>${sentence}</li><li>${after}</li></ul></body>`,
  ],
];

const HIDINGS: readonly Carrier[] = [
  ['hidden', (sentence, before) => `<p>${before}</p><div style="display: none">${sentence}</div>`],
  ['hidden', (sentence, before) => `${before}\n<!-- ${sentence} -->`],
  ['hidden', (sentence) => `<img src="/fair.jpg" alt="${sentence.replaceAll('"', '&quot;')}">`],
  ['encoded', (sentence) => `blob: ${Buffer.from(sentence).toString('base64')}`],
  ['encoded', (sentence) => `0x${Buffer.from(sentence).toString('hex')}`],
  ['reversed', (sentence) => [...sentence].reverse().join('')],
  ['invisible', (sentence) => [...sentence].join('\u200d')],
  ['encoded', (sentence, before) => `${before} ${encodeURIComponent(sentence)}`],
];

export function developmentTexts(): TestText[] {
  return [
    ...textsOf('attack', { en: ENGLISH_ATTACKS, ...OTHER_ATTACKS }),
    ...textsOf('benign', { en: ENGLISH_BENIGN, ...OTHER_BENIGN }),
  ];
}

function textsOf(kind: TestText['kind'], languages: Readonly<Record<string, string>>): TestText[] {
  const benign: Readonly<Record<string, string>> = { en: ENGLISH_BENIGN, ...OTHER_BENIGN };
  return Object.entries(languages).flatMap(([language, lines]) => {
    const around = read(benign[language] ?? '').filter(({ name }) => name !== 'security');
    return read(lines).flatMap(({ name, sentence }, at) => {
      const before = around[(at * 7 + 2) % around.length]?.sentence ?? '';
      const after = around[(at * 5 + 3) % around.length]?.sentence ?? '';
      const [carrier, carry] = CARRIERS[at % CARRIERS.length] as Carrier;
      const [hiding, hide] = HIDINGS[at % HIDINGS.length] as Carrier;
      const label = { kind, class: name, language };
      return [
        { ...label, carrier: 'alone', text: sentence },
        { ...label, carrier, text: carry(sentence, before, after) },
        ...(kind === 'attack'
          ? [{ ...label, carrier: hiding, text: hide(sentence, before, after) }]
          : []),
      ];
    });
  });
}

function read(lines: string): { name: string; sentence: string }[] {
  return lines
    .trim()
    .split('\n')
    .map((line) => {
      const at = line.indexOf(': ');
      return { name: line.slice(0, at), sentence: line.slice(at + 2).replaceAll('\\n', '\n') };
    });
}
