import type { InboundClass } from '@governance/shared/detect/findings';

/**
 * Templates of one language, one per line; `{a|b}` is one of several choices, and `[[name]]` one
 * line of the slot of that name. `$pipe` stands for `|`, and `\n` for a line break.
 */
export interface LanguageTexts {
  readonly slots?: Readonly<Record<string, string>>;
  readonly attacks: Partial<Record<InboundClass, string>>;
  readonly benign: Readonly<Record<string, string>>;
}
