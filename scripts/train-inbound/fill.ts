import type { Random } from './random.ts';

/** A slot may refer to others, up to this depth. */
const MAX_DEPTH = 6;

export function templatesOf(lines: string): string[] {
  return lines.split('\n').filter((line) => line.trim() !== '');
}

/**
 * Replaces each `[[name]]` by a line of that slot, then each `{a|b}` by one of its choices, from
 * the inside out; JSON braces contain no `|` and stay.
 * @throws Error if a template names an unknown slot
 */
export function fill(
  template: string,
  random: Random,
  slots: Readonly<Record<string, string>> = {},
): string {
  let filled = template;
  for (let depth = 0; depth < MAX_DEPTH && filled.includes('[['); depth += 1) {
    filled = filled.replace(/\[\[([a-z]+)\]\]/g, (_all, name: string) => {
      const lines = templatesOf(slots[name] ?? '');
      if (lines.length === 0) throw new Error(`no such slot: ${name}`);
      return random.pick(lines);
    });
  }
  for (let before = ''; before !== filled; ) {
    before = filled;
    filled = filled.replace(/\{([^{}]*\|[^{}]*)\}/g, (_all, choices: string) =>
      random.pick(choices.split('|')),
    );
  }
  return capitalize(filled.replaceAll('\\n', '\n').replaceAll('$pipe', '|'));
}

function capitalize(text: string): string {
  return /^[a-zà-ÿа-я]/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}
