/** OPA's sprintf: Go's formats over Rego values. */
import { RegoNumber, RegoObject, RegoSet, type RegoValue } from '../rego-value.ts';
import type { Builtin } from './builtin.ts';
import { BuiltinLimitError } from './builtin.ts';
import { goSprintf } from './go-format.ts';
import { quoteString } from './go-quote.ts';
import type { FormatOperand } from './go-verbs.ts';

const MAX_OUTPUT = 64 * 1024;
const LIMITS = { maxWidth: 1_000, maxLength: MAX_OUTPUT };
/** The cost of each operand and of each character of the format and the result. */
const FUEL_PER_CHARACTER = 10;
const FUEL_PER_OPERAND = 500;

export const sprintf: Builtin = ([format, operands], call) => {
  if (typeof format !== 'string' || !Array.isArray(operands)) return undefined;
  call.charge(format.length * FUEL_PER_CHARACTER + operands.length * FUEL_PER_OPERAND);
  const text = goSprintf(format, operands.map(toOperand), LIMITS);
  call.charge(text.length * FUEL_PER_CHARACTER);
  return text;
};

function toOperand(value: RegoValue): FormatOperand {
  if (typeof value === 'string') return { type: 'string', value };
  if (!(value instanceof RegoNumber)) return { type: 'string', value: regoText(value) };
  const { text } = value;
  if (/[.eE]/.test(text)) {
    const float = Number(text);
    return Number.isFinite(float)
      ? { type: 'float64', value: float }
      : { type: 'string', value: text };
  }
  if (text.length > 1_000) throw new BuiltinLimitError('a number of more than 1000 digits');
  const integer = BigInt(text);
  const fits = BigInt.asIntN(64, integer) === integer;
  return { type: fits ? 'int64' : '*big.Int', value: integer };
}

/** A value as OPA prints it: `{"a": [1, null]}`, sets in braces, an empty one as `set()`. */
export function regoText(value: RegoValue): string {
  if (typeof value === 'string') return quoteString(value);
  if (value === null || typeof value === 'boolean') return String(value);
  if (value instanceof RegoNumber) return value.text;
  if (value instanceof RegoSet) {
    return value.items.length === 0 ? 'set()' : `{${value.items.map(regoText).join(', ')}}`;
  }
  if (value instanceof RegoObject) {
    const pairs = value.entries.map(([key, item]) => `${regoText(key)}: ${regoText(item)}`);
    return `{${pairs.join(', ')}}`;
  }
  return `[${value.map(regoText).join(', ')}]`;
}
