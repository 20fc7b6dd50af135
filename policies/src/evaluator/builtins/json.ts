/**
 * OPA's json.is_valid and json.unmarshal. OPA's WebAssembly takes more than JSON: numbers like
 * `0x10` and `10.0.0.1`, and any text after the value.
 */
import { type Builtin, JsonText } from './builtin.ts';

const FUEL_PER_CHARACTER = 10;

export const jsonIsValid: Builtin = ([text], call) => {
  if (typeof text !== 'string') return false;
  call.charge(text.length * FUEL_PER_CHARACTER);
  return isJson(text);
};

export const jsonUnmarshal: Builtin = ([text], call) => {
  if (typeof text !== 'string') return undefined;
  call.charge(text.length * FUEL_PER_CHARACTER);
  // The text itself goes back, since a parsed number would lose digits.
  return isJson(text) ? new JsonText(wellFormed(text)) : undefined;
};

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const LONE_HALF =
  /\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)/gs;

/** Half a character that is written as an escape is U+FFFD in OPA; UTF-8 has no bytes for it. */
function wellFormed(text: string): string {
  return text.replace(LONE_HALF, (written, half) => (half === undefined ? written : '\\ufffd'));
}
