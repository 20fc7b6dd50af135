import { resultOf } from '../enforcement/refusals.ts';
import { LIST_MEMBERS, type ListedItem, type ListMethod } from '../upstream/lists/list-page.ts';
import { isObject } from '../upstream/message.ts';
import type {
  UpstreamAnswer as Answer,
  UpstreamExchange,
  UpstreamRequest,
  UpstreamSession,
} from '../upstream/upstream.ts';
import { withMember } from './json-members.ts';

/** Caches a session's last answer as the server wrote it. */
export class KeptAnswer {
  readonly #session: UpstreamSession;
  answer: Answer | undefined;

  constructor(session: UpstreamSession) {
    this.#session = session;
  }

  async request(request: UpstreamRequest, exchange: UpstreamExchange): Promise<Answer> {
    this.answer = await this.#session.request(request, exchange);
    return this.answer;
  }

  /**
   * The answer with another cursor; its items are serialised again only where some are left out.
   */
  withPart(method: ListMethod, items: readonly ListedItem[], nextCursor: string | null): Answer {
    const { raw = '{}', value } = this.answer ?? {};
    const given = isObject(value) ? value : {};
    const member = LIST_MEMBERS[method];
    const listed = given[member];
    const isWhole = Array.isArray(listed) && listed.length === items.length;
    const { nextCursor: own, ...others } = given;
    if (isWhole && own === undefined && nextCursor === null) return { kind: 'result', raw, value };
    if (isWhole && own !== undefined && nextCursor !== null) {
      const renamed = withMember(raw, given, 'nextCursor', nextCursor);
      return { kind: 'result', raw: renamed, value: { ...given, nextCursor } };
    }
    return resultOf({ ...others, [member]: items, ...(nextCursor !== null && { nextCursor }) });
  }
}
