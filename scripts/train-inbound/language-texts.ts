import type { InboundClass } from '@governance/shared/detect/findings';

/**
 * Templates of one language, one a line; `{a|b}` is one of several. `$pipe` stands for `|`, and
 * `\n` for a line's end.
 */
export interface LanguageTexts {
  readonly attacks: Partial<Record<InboundClass, string>>;
  readonly benign: Readonly<Record<string, string>>;
}
