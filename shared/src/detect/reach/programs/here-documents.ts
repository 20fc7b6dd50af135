/**
 * Here-documents of a command line (`cat <<EOF`). What stands in one is no command of the line, so
 * that its quotes do not change how the rest is read: commit messages have apostrophes.
 */

/** A command that may be given one. */
interface Reader {
  readonly documents: HereDocument[];
}

export interface HereDocument {
  readonly text: string;
  /** Whether a shell takes it as it is, without running its substitutions. */
  readonly isPlain: boolean;
}

interface Announced {
  readonly end: string;
  readonly hasTabs: boolean;
  readonly isQuoted: boolean;
  readonly documents: HereDocument[];
}

const ANNOUNCES = /<<(-?)[ \t]{0,9}(?:'([^'\n]{1,80})'|"([^"\n]{1,80})"|(\\?[\w.-]{1,80}))/y;

export class HereDocuments {
  readonly #line: string;
  readonly #isOff: boolean;
  /** Where each text stands last as a line of its own, without tabs before it. */
  #lastLines: Map<string, number> | undefined;
  #announced: Announced[] = [];

  constructor(line: string) {
    this.#line = line;
    // In arithmetic it is a shift.
    this.#isOff = !line.includes('<<') || /\(\(|\$\[/.test(line);
  }

  /** @returns where the last sign of `<<EOF` stands; undefined where it announces none */
  announce(at: number, { documents }: Reader): number | undefined {
    if (this.#isOff) return undefined;
    ANNOUNCES.lastIndex = at;
    const [all, dash, single, double, plain] = ANNOUNCES.exec(this.#line) ?? [];
    const end = single ?? double ?? plain?.replace('\\', '');
    if (all === undefined || end === undefined) return undefined;
    // Without an end it is read as commands.
    if ((this.#lines().get(end) ?? -1) < at) return undefined;
    const isQuoted = plain === undefined || plain.startsWith('\\');
    this.#announced.push({ end, hasTabs: dash === '-', isQuoted, documents });
    return at + all.length - 1;
  }

  /**
   * Takes those that were announced from behind the end of a line.
   *
   * @returns where the last sign stands that was taken
   */
  skip(at: number): number {
    let from = at + 1;
    for (const one of this.#announced.splice(0)) {
      const begin = from;
      let end = this.#line.length;
      while (from < this.#line.length) {
        const to = lineEnd(this.#line, from);
        const text = this.#line.slice(from, to);
        from = to + 1;
        if ((one.hasTabs ? text.replace(/^\t+/, '') : text) === one.end) {
          end = to - text.length;
          break;
        }
      }
      const text = this.#line.slice(begin, end);
      one.documents.push({ text, isPlain: one.isQuoted || !/\$\(|`/.test(text) });
    }
    return from - 1;
  }

  #lines(): Map<string, number> {
    if (this.#lastLines !== undefined) return this.#lastLines;
    const lines = new Map<string, number>();
    for (let from = 0; from <= this.#line.length; ) {
      const to = lineEnd(this.#line, from);
      const text = this.#line.slice(from, to);
      if (text.length <= 200) lines.set(text.replace(/^\t+/, ''), from);
      from = to + 1;
    }
    this.#lastLines = lines;
    return lines;
  }
}

function lineEnd(line: string, from: number): number {
  const end = line.indexOf('\n', from);
  return end < 0 ? line.length : end;
}
