/** OPA's object.subset: whether one collection contains another. */
import { equalRego, RegoObject, RegoSet, type RegoValue } from '../rego-value.ts';
import type { Builtin, BuiltinCall } from './builtin.ts';

/** The cost of comparing two elements; nested ones are charged again. */
const FUEL_PER_COMPARISON = 20;

export const objectSubset: Builtin = ([whole, part], call) => {
  if (whole === undefined || part === undefined) return undefined;
  if (whole instanceof RegoObject && part instanceof RegoObject) {
    return holdsObject(whole, part, call);
  }
  if (whole instanceof RegoSet && part instanceof RegoSet) return holdsSet(whole, part, call);
  if (isArray(whole) && isArray(part)) return holdsArray(whole, part, call);
  if (isArray(whole) && part instanceof RegoSet) return arrayHoldsSet(whole, part, call);
  return undefined;
};

function isArray(value: RegoValue): value is readonly RegoValue[] {
  return Array.isArray(value);
}

function equal(a: RegoValue, b: RegoValue, call: BuiltinCall): boolean {
  call.charge(FUEL_PER_COMPARISON);
  return equalRego(a, b);
}

/** Recurses into values that are collections of the same kind. */
function holdsObject(whole: RegoObject, part: RegoObject, call: BuiltinCall): boolean {
  return part.entries.every(([key, wanted]) => {
    const found = whole.entries.find(([other]) => equal(other, key, call))?.[1];
    if (found === undefined) return false;
    if (equal(found, wanted, call)) return true;
    if (found instanceof RegoObject && wanted instanceof RegoObject) {
      return holdsObject(found, wanted, call);
    }
    if (found instanceof RegoSet && wanted instanceof RegoSet) return holdsSet(found, wanted, call);
    if (isArray(found) && isArray(wanted)) return holdsArray(found, wanted, call);
    return false;
  });
}

function holdsSet(whole: RegoSet, part: RegoSet, call: BuiltinCall): boolean {
  return part.items.every((wanted) => whole.items.some((item) => equal(item, wanted, call)));
}

/** Whether the part appears contiguously in the whole. */
function holdsArray(
  whole: readonly RegoValue[],
  part: readonly RegoValue[],
  call: BuiltinCall,
): boolean {
  for (let from = 0; from + part.length <= whole.length; from++) {
    if (part.every((item, i) => equal(whole[from + i] as RegoValue, item, call))) return true;
  }
  return false;
}

/**
 * Whether the members of the set appear in the array, as OPA counts it: it stops when the number of
 * hits reaches the size of the set, so that a repeated member counts twice.
 */
function arrayHoldsSet(whole: readonly RegoValue[], part: RegoSet, call: BuiltinCall): boolean {
  let missing = part.items.length;
  return whole.some((item) => {
    if (part.items.some((wanted) => equal(wanted, item, call))) missing--;
    return missing === 0;
  });
}
