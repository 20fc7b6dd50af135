/** Files that a patch changes, as its headers say. */

const HEADER =
  /^(?:\*\*\* (Add|Update|Delete) File: |\*\*\* Move to: |\+\+\+ (?:b\/)?)([^\n\t]{1,4000})/gm;
/** Files of one patch, at most: more than the paths of a call that are read. */
const MAX_FILES = 2_001;

export const isPatch = (text: string): boolean =>
  text.includes('*** Begin Patch') || (text.includes('\n+++ ') && text.includes('\n@@ '));

export function readPatch(text: string): { text: string; use: 'write' | 'delete' }[] {
  const found: { text: string; use: 'write' | 'delete' }[] = [];
  for (const [, what, file = ''] of text.matchAll(HEADER)) {
    if (found.length >= MAX_FILES) break;
    if (file.trim() === '/dev/null') continue;
    found.push({ text: file.trim(), use: what === 'Delete' ? 'delete' : 'write' });
  }
  return found;
}
