import type { BuiltinPattern } from './builtin-pattern.ts';
import { CONTACT } from './patterns/contact.ts';
import { FINANCIAL } from './patterns/financial.ts';
import { IDENTITY } from './patterns/identity.ts';
import { ISSUER_KEYS } from './patterns/issuer-keys.ts';
import { SECRETS } from './patterns/secrets.ts';

/** The 26 patterns of the product, in the order in which they are listed. Names never change. */
export const BUILTIN_PATTERNS: readonly BuiltinPattern[] = [
  ...ISSUER_KEYS,
  ...SECRETS,
  ...FINANCIAL,
  ...IDENTITY,
  ...CONTACT,
];

/** The expressions of a pattern joined into one, as lists and tables show it. */
export function shownExpression(pattern: BuiltinPattern): string {
  const expressions = pattern.expressions.map((entry) =>
    typeof entry === 'string' ? entry : entry.expression,
  );
  return expressions
    .map((expression) =>
      expression.startsWith('(?i)') ? `(?i:${expression.slice(4)})` : `(?:${expression})`,
    )
    .join('|');
}
