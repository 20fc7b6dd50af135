/** To how many recipients a call sends something. */

const ADDRESS_SIGN = '@';
/** Longer texts are no addresses. */
const MAX_ADDRESS = 320;

/**
 * Adds the recipients that a text names: addresses, or without any, the names between commas.
 *
 * @param isNamed whether the argument is for recipients; otherwise only addresses count
 */
export function addRecipients(text: string, isNamed: boolean, found: Set<string>): void {
  const plain = normalised(text);
  const parts = plain.split(/[,;\n\r\t|\xa6?&<>]/);
  const addresses = parts.filter((part) => part.includes(ADDRESS_SIGN));
  if (addresses.length > 0) {
    for (const part of addresses) addAddresses(part, found);
    return;
  }
  if (!isNamed) return;
  for (const part of parts) {
    const name = part.trim();
    if (name !== '') found.add(name.slice(0, MAX_ADDRESS));
  }
}

/** Several may stand between two commas, separated only by spaces or slashes. */
function addAddresses(part: string, found: Set<string>): void {
  for (const word of part.split(/[\s/]/)) {
    const at = word.indexOf(ADDRESS_SIGN);
    if (at < 0 || at === word.length - 1) continue;
    const begin = word.search(/[:=]/) + 1;
    found.add(word.slice(begin > at ? 0 : begin).slice(0, MAX_ADDRESS));
  }
}

function normalised(text: string): string {
  let plain = text;
  if (/%(?:40|2c|3b|7c)/i.test(plain)) {
    plain = plain.replace(/%40/g, '@').replace(/%(?:2c|3b|7c)/gi, ',');
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: plain text has none
  if (/[^\x00-\x7f]/.test(plain)) plain = plain.normalize('NFKC').replace(/\p{Cf}/gu, '');
  return plain.toLowerCase();
}

/** Whether a text is an address and nothing else. */
export function isAddress(text: string): boolean {
  if (text.length > MAX_ADDRESS) return false;
  const at = text.indexOf(ADDRESS_SIGN);
  return at > 0 && at < text.length - 1 && !/\s/.test(text) && !text.includes('/');
}

/** What may stand between addresses. */
const BETWEEN = /[\s,;|\xa6]/;

/** Whether a text is an address, or several of them, and nothing else. */
export function areAddresses(text: string): boolean {
  if (isAddress(text)) return true;
  if (!text.includes(ADDRESS_SIGN) || !BETWEEN.test(text)) return false;
  return text.split(BETWEEN).every((part) => part === '' || isAddress(part));
}
