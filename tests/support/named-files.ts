/** Finds the source files that comments and documents name but nobody has. */

/** A name may have folders before it, and `*` for any part of it. */
const NAME = /(?<![\w/*<>-])(?:\.{0,2}\/)*[\w*][\w./*-]*\.ts\b/g;
/** A `//` behind one of these is part of a text: an address, or a pattern. */
const COMMENT = /\/\*[\s\S]*?\*\/|(?<![:'"`\w\\])\/\/.*/g;

/**
 * @param texts by path; of sources only the comments are read
 * @param files all files that a name may mean
 * @returns a sentence a name
 */
export function findUnknownNames(
  texts: ReadonlyMap<string, string>,
  files: readonly string[],
): string[] {
  const problems = new Set<string>();
  for (const [path, text] of texts) {
    const read = path.endsWith('.ts') ? (text.match(COMMENT) ?? []).join('\n') : text;
    for (const [name] of read.matchAll(NAME)) {
      if (!isKnown(name, files)) problems.add(`${path} names ${name}`);
    }
  }
  return [...problems];
}

function isKnown(name: string, files: readonly string[]): boolean {
  const parts = name.replace(/^(?:\.{0,2}\/)+/, '').split('*');
  const pattern = parts.map((part) => part.replaceAll('.', '\\.')).join('[^/]*');
  const end = new RegExp(`(?:^|/)${pattern}$`);
  return files.some((file) => end.test(file));
}
