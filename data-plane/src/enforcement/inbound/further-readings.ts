/**
 * What else a tool might take for a URI: an escaped one (`https:\/\/a`, `https%3A%2F%2Fa`), and a
 * host without a scheme, which tools that fetch complete. Only rules that restrict consider these:
 * nothing is trusted for what a text may be read as. Takes linear time.
 */

/** Escapes within escapes that are undone. */
const MAX_LAYERS = 2;
const ESCAPED = /\\(?:u00([0-7][0-9a-f])|x([0-7][0-9a-f])|(\/))|%([0-7][0-9a-f])/gi;

/** A text without JSON's and percent escapes of ASCII, once for each layer of them. */
export function unescapedForms(text: string): string[] {
  const forms: string[] = [];
  for (let left = text; forms.length < MAX_LAYERS; ) {
    if (!/[\\%]/.test(left)) break;
    const form = left.replace(ESCAPED, (_, u?: string, x?: string, slash?: string, p?: string) =>
      slash === undefined ? String.fromCharCode(Number.parseInt(u ?? x ?? p ?? '', 16)) : slash,
    );
    if (form === left) break;
    forms.push(form);
    left = form;
  }
  return forms;
}

const BETWEEN = /[\s"'<>`,;()[\]{}|=&]+/;
/** With a user, or not; a name with a top-level domain, or an address. */
const HOST =
  /^(?:[^/?#\\@]*@)?(?:(?:[\p{L}\p{N}_-]+[.。])+(?:\p{L}{2,}|xn--[a-z0-9-]+)|\d+(?:\.\d+){3})(?![\p{L}\p{N}_-])/iu;

/** Where a text names a host without a scheme: `a.example/b`, up to the end of the URI. */
export function* bareHosts(text: string, maxLength: number): Generator<string> {
  if (!/[.。]/.test(text)) return;
  for (const word of text.split(BETWEEN)) {
    const isShort = word.length >= 4 && word.length <= maxLength;
    if (isShort && !word.includes('://') && HOST.test(word)) yield word.replace(/[.!?:]+$/, '');
  }
}
