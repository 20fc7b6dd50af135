/**
 * Reads a runtime's own usage data (tokens, why it ended) from an answer while it is passed on. It
 * buffers one line at a time, or one short document, keeps nothing of the content, and never fails:
 * what it cannot read stays unknown.
 */
import { ByteCollector } from '@governance/shared/byte-collector';
import { isObject } from '../upstream/message.ts';

/** How an answer is laid out, by its content type. */
export type AnswerForm = 'lines' | 'events' | 'document' | 'other';

/** Limit of a line, or of a document that is no stream; longer ones are passed on unread. */
const MAX_BYTES = 1024 * 1024;
const MAX_REASON = 100;
const LINE_FEED = 0x0a;
/** An event named so; some runtimes have a field of that name instead. */
const ERROR_EVENT = /^(?:event: ?error\r?$|error:)/;

export interface ReadUsage {
  input_tokens: number | null;
  output_tokens: number | null;
  finish_reason: string | null;
  /** Whether it reported an error. */
  isError: boolean;
}

/**
 * The form that a content type names; `lines` and `events` are streams.
 *
 * @param contentType a list where an answer has several: the first counts
 */
export function answerForm(contentType: string | readonly string[] | undefined): AnswerForm {
  const first = typeof contentType === 'string' ? contentType : contentType?.[0];
  switch (first?.split(';', 1)[0]?.trim().toLowerCase()) {
    case 'application/x-ndjson':
      return 'lines';
    case 'text/event-stream':
      return 'events';
    case 'application/json':
      return 'document';
    default:
      return 'other';
  }
}

export function isStream(form: AnswerForm): boolean {
  return form === 'lines' || form === 'events';
}

export class UsageReader {
  readonly #form: AnswerForm;
  readonly #pending = new ByteCollector(MAX_BYTES);
  /** The rest of a line, or of the document, is too long to be read. */
  #isSkipping = false;
  readonly #usage: ReadUsage = {
    input_tokens: null,
    output_tokens: null,
    finish_reason: null,
    isError: false,
  };

  constructor(form: AnswerForm) {
    this.#form = form;
  }

  /** Takes the next bytes, however they were cut. */
  push(chunk: Buffer): void {
    if (this.#form === 'other') return;
    let rest = chunk;
    while (this.#form !== 'document') {
      const end = rest.indexOf(LINE_FEED);
      if (end < 0) break;
      this.#keep(rest.subarray(0, end));
      this.#line();
      rest = rest.subarray(end + 1);
    }
    this.#keep(rest);
  }

  /** What is known when no more bytes come. */
  end(): ReadUsage {
    this.#line();
    return this.#usage;
  }

  #keep(bytes: Buffer): void {
    if (bytes.length > 0 && !this.#isSkipping) this.#isSkipping = !this.#pending.add(bytes);
  }

  #line(): void {
    const line = this.#pending.take().toString('utf8');
    this.#isSkipping = false;
    if (this.#form !== 'events') this.#read(line);
    else if (line.startsWith('data:')) this.#read(line.slice('data:'.length));
    else this.#usage.isError ||= ERROR_EVENT.test(line);
  }

  #read(text: string): void {
    // `[DONE]`, comments and empty lines are no objects.
    if (!text.trimStart().startsWith('{')) return;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return;
    }
    if (isObject(value)) this.#take(value);
  }

  #take(reply: Record<string, unknown>): void {
    const usage = this.#usage;
    const counts = isObject(reply.usage) ? reply.usage : undefined;
    const choices: unknown = reply.choices;
    const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
    const reason = isObject(choice) ? choice.finish_reason : reply.done_reason;
    usage.input_tokens = toCount(
      reply.prompt_eval_count ?? counts?.prompt_tokens,
      usage.input_tokens,
    );
    usage.output_tokens = toCount(
      reply.eval_count ?? counts?.completion_tokens,
      usage.output_tokens,
    );
    if (typeof reason === 'string' && reason !== '') {
      usage.finish_reason = reason.slice(0, MAX_REASON).replaceAll('\u0000', '').toWellFormed();
    }
    usage.isError ||= reply.error !== undefined && reply.error !== null;
  }
}

function toCount(value: unknown, before: number | null): number | null {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : before;
}
