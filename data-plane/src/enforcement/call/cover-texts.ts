/** Covers known texts with marks wherever they occur. */

export const REDACTED = '[REDACTED]';

/** UTF-16 units from which a text is searched for. A shorter one occurs in many places by chance. */
export const MIN_COVERED = 4;

/** Texts with their marks, the longest first, since a shorter one may be part of it. */
export type Marks = ReadonlyMap<string, string>;

export const NO_MARKS: Marks = new Map();

/** @param texts each with its mark */
export function marksOf(texts: Iterable<readonly [string, string]>): Marks {
  return new Map([...texts].sort(([a], [b]) => b.length - a.length));
}

/** The marks of texts that patterns found. */
export function marksOfPatterns(found: ReadonlyMap<string, string>): Marks {
  return marksOf([...found].map(([text, pattern]) => [text, `[REDACTED:${pattern}]`]));
}

/** Adds the forms that the texts have within JSON, and within JSON that is a text of JSON. */
export function withEscapedForms(marks: Marks): Marks {
  const forms = [...marks].flatMap(([text, mark]): [string, string][] => {
    const once = escaped(text);
    return once === text ? [[text, mark]] : [text, once, escaped(once)].map((form) => [form, mark]);
  });
  return marksOf(forms);
}

const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);

/**
 * Covers what a scan found in a text that may quote it.
 *
 * @param matched null where too much was found to name it
 */
export function coverMatched(text: string, matched: Marks | null): string {
  if (matched === null) return REDACTED;
  return matched.get(text) ?? coverText(text, matched);
}

/** Inserted marks are not searched: texts that occur within marks would grow endlessly. */
export function coverText(text: string, marks: Marks): string {
  let pieces: (string | { mark: string })[] = [text];
  for (const [one, mark] of marks) {
    if (one.length < MIN_COVERED || !text.includes(one)) continue;
    const covered: typeof pieces = [];
    for (const piece of pieces) {
      // Nearly all pieces: a text is found in few of them.
      if (typeof piece !== 'string' || !piece.includes(one)) {
        covered.push(piece);
        continue;
      }
      for (const [index, rest] of piece.split(one).entries()) {
        if (index > 0) covered.push({ mark });
        if (rest !== '') covered.push(rest);
      }
    }
    pieces = covered;
  }
  return pieces.map((piece) => (typeof piece === 'string' ? piece : piece.mark)).join('');
}
