/** What a script of sed writes and runs beside the lines that it prints. */

export interface SedReach {
  readonly writes: string[];
  readonly lines: string[];
}

/** Commands with a text up to the end of their line. */
const TO_LINE_END = new Set(['a', 'i', 'c', 'r', 'R', 'b', 't', 'T', ':', '#']);

/** One pass; caller-controlled. */
export function readSedScript(script: string): SedReach {
  const found: SedReach = { writes: [], lines: [] };
  let at = 0;
  const lineEnd = () => {
    const end = script.indexOf('\n', at);
    return end < 0 ? script.length : end;
  };
  /** What stands before the next delimiter. */
  const part = (delimiter: string): string => {
    const from = at;
    while (at < script.length && script[at] !== delimiter) at += script[at] === '\\' ? 2 : 1;
    const text = script.slice(from, at);
    at++;
    return text;
  };
  while (at < script.length) {
    const sign = script[at] as string;
    at++;
    if (sign === '/') part('/');
    else if (sign === '\\') part(script[at++] ?? '');
    else if (sign === 'w' || sign === 'W') {
      found.writes.push(script.slice(at, lineEnd()).trim());
      at = lineEnd();
    } else if (sign === 'e') {
      found.lines.push(script.slice(at, lineEnd()));
      at = lineEnd();
    } else if (TO_LINE_END.has(sign)) at = lineEnd();
    else if (sign === 's' || sign === 'y') {
      const delimiter = script[at++] ?? '';
      part(delimiter);
      const text = part(delimiter);
      if (sign === 'y') continue;
      const [flags = ''] = /^[a-vxyzA-Z0-9]{0,20}/.exec(script.slice(at, at + 20)) ?? [];
      at += flags.length;
      if (flags.includes('e')) found.lines.push(text.replace(/\\(.)/g, '$1'));
      // The name of a file is the rest of the line.
      if (script[at] !== 'w') continue;
      found.writes.push(script.slice(at + 1, lineEnd()).trim());
      at = lineEnd();
    }
  }
  return found;
}
