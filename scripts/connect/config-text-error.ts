/** A configuration that its client could not read, or into which an entry cannot be merged. */
export class ConfigTextError extends Error {
  /** @param offset position in the text; the message gives its line and column */
  constructor(message: string, text: string, offset: number) {
    const before = text.slice(0, offset);
    const line = before.split('\n').length;
    super(`line ${line}, column ${offset - before.lastIndexOf('\n')}: ${message}`);
    this.name = 'ConfigTextError';
  }
}

export interface Edit {
  start: number;
  end: number;
  text: string;
}

/** Replaces ranges that do not overlap; all other characters stay. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  let result = '';
  let at = 0;
  for (const edit of [...edits].sort((a, b) => a.start - b.start || a.end - b.end)) {
    result += text.slice(at, edit.start) + edit.text;
    at = edit.end;
  }
  return result + text.slice(at);
}

/** The line ending of a text; if mixed, the first. */
export function lineEndOf(text: string): '\n' | '\r\n' {
  const first = text.indexOf('\n');
  return first > 0 && text[first - 1] === '\r' ? '\r\n' : '\n';
}
