/**
 * Which calls a line of a process was meant to answer that is not read as MCP: duplicate keys, a
 * string that breaks off. What it says counts for nothing; only whom it leaves without an answer.
 */

const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** No id of ours is longer, nor is a key that tells answers from other messages. */
const MAX_ID = 40;
const MAX_KEY = 7;

/**
 * Finds the answers in a line, in one pass that keeps one message. A notification or request of the
 * server is none, and nor is a line of a log, though that may be JSON too.
 *
 * @param onAnswer gets the id; undefined where it cannot be read, so that any call may be meant
 */
export function findRefusedAnswers(line: string, onAnswer: (id: unknown) => void): void {
  // Blanks, and the mark that says UTF-8.
  const text = line.trimStart();
  const first = text.charCodeAt(0);
  if (first !== OPEN && first !== OPEN_LIST) return;
  // The depth of a message's members: a list is a batch.
  const inside = first === OPEN ? 1 : 2;
  let depth = 0;
  let isKey = false;
  let message: Message | null = null;
  const finish = () => {
    if (message?.isAnswer) onAnswer(message.id);
    message = null;
  };
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) {
      const start = i + 1;
      i = endOfString(text, start);
      if (isKey && depth === inside) message?.add(text, start, i);
      isKey = false;
    } else if (c === OPEN || c === OPEN_LIST) {
      isKey = c === OPEN;
      if (depth++ === inside - 1 && isKey) message = new Message();
    } else if (c === CLOSE || c === CLOSE_LIST) {
      isKey = false;
      if (depth === inside) finish();
      depth = Math.max(depth - 1, 0);
    } else if (c === COMMA) isKey = true;
  }
  finish();
}

/** What a message's keys show of it. */
class Message {
  #ids = 0;
  #id: unknown;
  #isVersioned = false;
  /** It has a result or an error. */
  #isOutcome = false;
  #isAsked = false;
  #hasOthers = false;

  /** Takes a member, whose key lies between these. */
  add(text: string, start: number, end: number): void {
    switch (end - start > MAX_KEY ? '' : text.slice(start, end)) {
      case 'id':
        this.#addId(readId(text, end + 1));
        break;
      case 'jsonrpc':
        this.#isVersioned = true;
        break;
      case 'result':
      case 'error':
        this.#isOutcome = true;
        break;
      case 'method':
      case 'params':
        this.#isAsked = true;
        break;
      default:
        this.#hasOthers = true;
    }
  }

  get id(): unknown {
    return this.#id;
  }

  get isAnswer(): boolean {
    // A log has other members: it may well name a call's id, and an error.
    if (this.#isAsked || (this.#hasOthers && !this.#isVersioned)) return false;
    if (this.#id === undefined) return this.#isVersioned && this.#isOutcome;
    return this.#isVersioned || this.#isOutcome;
  }

  #addId(id: unknown): void {
    // Two that differ name none.
    this.#id = this.#ids++ === 0 || this.#id === id ? id : undefined;
  }
}

/** The id behind its key; undefined where it cannot be read, null where it is no number. */
function readId(text: string, from: number): unknown {
  let start = from;
  const skip = () => {
    while (isBlank(text.charCodeAt(start))) start++;
  };
  skip();
  if (text.charCodeAt(start) !== COLON) return undefined;
  start++;
  skip();
  if (text.charCodeAt(start) === QUOTE) return null;
  const limit = Math.min(start + MAX_ID, text.length);
  let end = start;
  while (end < limit && !endsValue(text.charCodeAt(end))) end++;
  // It may have broken off.
  if (end === text.length) return undefined;
  if (end - start === MAX_ID) return null;
  try {
    return JSON.parse(text.slice(start, end));
  } catch {
    return undefined;
  }
}

function isBlank(c: number): boolean {
  return c === SPACE || c === TAB || c === LF || c === CR;
}

function endsValue(c: number): boolean {
  return c === COMMA || c === CLOSE;
}

/** The index of the closing quote, or the end. */
function endOfString(text: string, start: number): number {
  let i = start;
  while (i < text.length) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) return i;
    i += c === BACKSLASH ? 2 : 1;
  }
  return text.length;
}
