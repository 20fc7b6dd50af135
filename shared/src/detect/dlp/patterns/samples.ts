/** What a form or a schema shows as an example: a number that everybody shows, and that nobody has. */
import type { Judge, Stretch } from '../builtin-pattern.ts';
import { isTestCard } from '../validators/payment-card.ts';

/** `placeholder="…"`, `"example": "…"`, `examples: ['…']`, `pattern`. */
const OF_AN_EXAMPLE =
  /(?:placeholder|examples?|sample|pattern|format)["'\\]{0,3}\s{0,3}[:=]\s{0,3}[{[]?\s{0,3}["'\\]{0,3}(?:(?:e\.g\.|ex\.?:?|z\.B\.|p\.ex\.)\s)?$/i;
const BEFORE = 40;

/** In an element of a form no date is anybody's. */
const OF_A_PLACEHOLDER = /<[a-z][^<>]{0,200}\splaceholder=\\?["'](?:[A-Za-z.:]{1,8}\s)?$/i;
const MAX_ELEMENT = 240;

/** Numbers of advertisements and of documents of banks, without separators. */
const SAMPLES: ReadonlySet<string> = new Set(
  `123456789 078051120 219099999 987654321 111223333 123121234 111111111 999999999 001010001
  DE89370400440532013000 GB29NWBK60161331926819 GB82WEST12345698765432 GB33BUKB20201555555555
  FR1420041010050500013M02606 FR7630006000011234567890189 ES9121000418450200051332
  IT60X0542811101000000123456 NL91ABNA0417164300 BE68539007547034 CH9300762011623852957
  AT611904300234573201 PL61109010140000071219812874 SE4550000000058398257466
  DK5000400440116243 NO9386011117947 FI2112345600000785 PT50000201231234567890154`.split(/\s+/),
);

const isSample = (text: string, { start, end }: Stretch): boolean => {
  const compact = text
    .slice(start, end)
    .replace(/[^A-Za-z0-9]/g, '')
    .toUpperCase();
  return (
    (SAMPLES.has(compact) || isTestCard(compact)) &&
    OF_AN_EXAMPLE.test(text.slice(Math.max(0, start - BEFORE), start))
  );
};

/** The same judge without the samples of forms and schemas. */
export const withoutSamples =
  (judge: Judge): Judge =>
  (text, start, end) => {
    const found = judge(text, start, end);
    return found.length === 0 ? found : found.filter((one) => !isSample(text, one));
  };

/** The same judge without what a field of a form shows while it is empty. */
export const withoutPlaceholders =
  (judge: Judge): Judge =>
  (text, start, end) => {
    const found = judge(text, start, end);
    if (found.length === 0) return found;
    return found.filter(
      (one) => !OF_A_PLACEHOLDER.test(text.slice(Math.max(0, one.start - MAX_ELEMENT), one.start)),
    );
  };
