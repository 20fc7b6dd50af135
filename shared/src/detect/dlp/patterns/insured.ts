/** Numbers of policies and claims that only the words around them tell from those of anything else. */
import { type Judge, type JudgedExpression, NOTHING } from '../builtin-pattern.ts';

const AROUND = 120;
const OF_INSURANCE =
  /policy-?\s?holders?\b|\binsured(?: person| party)?\b|\badjuster\b|\bclaimants?\b|\bunderwrit/i;

/** The candidate's last word. */
const ofInsurance: Judge = (text, start, end) => {
  const said = text.slice(Math.max(0, start - AROUND), end + AROUND);
  if (!OF_INSURANCE.test(said) || /^[-./]?[A-Za-z0-9]/.test(text.slice(end, end + 2)))
    return NOTHING;
  const value = /[A-Z0-9-]+$/.exec(text.slice(start, end))?.[0] ?? '';
  if (/^(?:19|20)\d{6}$/.test(value)) return NOTHING;
  return [{ start: end - value.length, end }];
};

/** Of a prison; what a hotel or an airline books is another number. */
const lastWord: Judge = (text, start, end) => {
  const value = /[A-Z0-9-]+$/.exec(text.slice(start, end))?.[0] ?? '';
  return /\d/.test(text[end] ?? '') ? NOTHING : [{ start: end - value.length, end }];
};

export const INSURED_AND_HELD: readonly JudgedExpression[] = [
  {
    expression: String.raw`\b(?:[Pp]olicy|POLICY|[Cc]laim|CLAIM) #?(?:[A-Z]{1,4}-)?\d{6,12}\b`,
    judge: ofInsurance,
  },
  {
    expression: String.raw`\b(?i:inmate|detainee|arrestee|jail|prisoner)(?: ?/ ?| )(?i:booking)(?: (?i:no\.?|number|id|nr\.?)| ?#)[ :#]{1,3}(?:[A-Z]{1,3}-?)?\d{2,10}(?:-\d{3,10})?\b`,
    judge: lastWord,
  },
];
