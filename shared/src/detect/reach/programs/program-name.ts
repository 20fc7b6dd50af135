/** The name of the program that a word of a command line calls. */

/** A command without its folder and ending, in lower case. */
export function nameOf(word: string | undefined): string {
  if (word === undefined) return '';
  const name = word.slice(Math.max(word.lastIndexOf('/'), word.lastIndexOf('\\')) + 1);
  // A block of PowerShell may begin without a blank.
  return name.toLowerCase().replace(/\.exe$|^\{(?=[a-z])/g, '');
}
