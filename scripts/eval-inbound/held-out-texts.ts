import { HELD_OUT_ATTACKS } from './held-out/attacks.ts';
import { HELD_OUT_BENIGN } from './held-out/benign.ts';
import type { TestText } from './texts.ts';

/** The held-out half: each text once, unchanged. */
export function heldOutTexts(): TestText[] {
  return [...read(HELD_OUT_ATTACKS, 'attack'), ...read(HELD_OUT_BENIGN, 'benign')];
}

function read(lines: string, kind: TestText['kind']): TestText[] {
  return lines
    .trim()
    .split('\n')
    .map((line) => {
      const at = line.indexOf(': ');
      const [name = '', language = ''] = line.slice(0, at).split(', ');
      const text = line.slice(at + 2).replaceAll('\\n', '\n');
      return { kind, class: name, language, carrier: 'as it stands', text };
    });
}
