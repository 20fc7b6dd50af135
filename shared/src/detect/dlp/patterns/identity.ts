import { type BuiltinPattern, type Judge, NOTHING, type Stretch } from '../builtin-pattern.ts';
import { around, isInUuid, isPartOfLonger } from '../judges.ts';
import { findNear, stretches } from '../near.ts';
import { isUniform } from '../validators/checksums.ts';
import { isNationalId } from '../validators/national-ids.ts';
import { birth } from './birth.ts';
import { INSURED_AND_HELD } from './insured.ts';
import {
  afterEscape,
  BIRTH_BEHIND_ESCAPE,
  BIRTH_LABELS,
  DOCUMENT_LABELS,
  NATIONAL_ID_LABELS,
  NINO_LABELS,
  PERSON_LABELS,
  RECORD_BEHIND_ESCAPE,
  RECORD_LABELS,
  SSN_LABELS,
} from './labels.ts';
import { isOfAnOrder } from './orders.ts';
import { OWN_IDS } from './own-ids.ts';
import { withoutPlaceholders, withoutSamples } from './samples.ts';
import {
  WORLD_BIRTH_LABELS,
  WORLD_DOCUMENT_LABELS,
  WORLD_ID_LABELS,
  WORLD_RECORD_LABELS,
} from './world-labels.ts';

/** Printed on a card that was sold with wallets, and therefore void. */
const VOID_SSN = '078051120';
const OF_A_PIECE = /^ ?(?:Ω|ohms?\b|pcs\b|mm\b|kg\b)/i;

/** Social Security: no area 000, 666 or 900 and above (those are ITINs), no group 00, serial 0000. */
function isSsn(written: string): boolean {
  const digits = written.replace(/\D/g, '');
  const area = digits.slice(0, 3);
  if (digits === VOID_SSN) return false;
  if (area === '000' || area === '666' || isUniform(digits)) return false;
  return digits.slice(3, 5) !== '00' && digits.slice(5) !== '0000' && digits.length === 9;
}

const SSN_NEAR = stretches(
  /(?<![\dA-Za-z])\d{3}[ ./\-–_*]{0,3}\d{2}[ ./\-–_*]{0,3}\d{4}(?![\dA-Za-z])/g,
  isSsn,
);

const ssnWritten: Judge = (text, start, end) => {
  const written = text.slice(start, end);
  if (OF_A_PIECE.test(text.slice(end, end + 6))) return NOTHING;
  return isSsn(written) && written[0] !== '9' && !isPartOfLonger(text, { start, end }, true)
    ? [{ start, end }]
    : NOTHING;
};

/** In a file's name or a key: applicant_… */
const ssnInName: Judge = (text, start, end) =>
  /\d/.test(text[end] ?? '') ? NOTHING : ssnWritten(text, start + 1, end);

const ssnLabelled: Judge = (text, start, end) =>
  findNear(text, start, end, { after: 60, before: 28 }, SSN_NEAR);

const NINO =
  /(?<![A-Za-z0-9])[A-Za-z]{2}[ .-]?\d{2}[ .-]?\d{2}[ .-]?\d{2}[ .-]?[A-Da-d]?(?![A-Za-z0-9])/g;
/** As it is written by itself: in pairs, or in one. */
const NINO_GROUPS = /^[A-Z]{2}(?:([ -])\d\d\1\d\d\1\d\d\1?[A-D]|[ -]?\d{6}[ -]?[A-D])$/;
const NINO_NEAR = stretches(NINO);
const NINO_WORDS = new RegExp(NINO_LABELS.slice(4), 'i');

/** HMRC's rules: unused letters, and prefixes that are not issued. */
function isNino(written: string): boolean {
  const compact = written.replace(/[^A-Za-z0-9]/g, '').toUpperCase();
  return (
    /^[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]\d{6}[A-D]$/.test(compact) &&
    !/^(?:BG|GB|KN|NK|NT|TN|ZZ)/.test(compact)
  );
}

const OF_A_PART =
  /\b(?:parts?|model|article|drawing|bulletin|item|sku|supersedes|supersed(?:ed|ing)(?: by)?|replac(?:es|ed|ing)(?: by)?)(?: (?:no|nr|number)\b)?[\s:#.]{1,3}$/i;

/** QQ is issued to nobody: forms are filled with it, and rules are explained by it. */
const OF_A_FORM = /\b(?:format|form|pattern|e\.g\.|example|such as)\b[^\n]{0,24}$/i;

const ninoWritten: Judge = (text, start, end) => {
  const written = text.slice(start, end);
  if (!isNino(written) && !/^QQ/i.test(written)) return NOTHING;
  if (/^QQ/i.test(written) && OF_A_FORM.test(text.slice(Math.max(0, start - 36), start)))
    return NOTHING;
  const upper = written === written.toUpperCase();
  if (OF_A_PART.test(text.slice(Math.max(0, start - 24), start))) return NOTHING;
  return (upper && NINO_GROUPS.test(written)) || NINO_WORDS.test(around(text, start, end, 60, 40))
    ? [{ start, end }]
    : NOTHING;
};

const ninoLabelled: Judge = (text, start, end) =>
  findNear(text, start, end, { after: 60, before: 24 }, NINO_NEAR);

const idWritten: Judge = (text, start, end) => {
  const written = text.slice(start, end);
  if (!isNationalId(written, false) || isPartOfLonger(text, { start, end })) return NOTHING;
  return isOfAnOrder(text, start, written) ? NOTHING : [{ start, end }];
};

const ID_RUN =
  /(?<![A-Za-z0-9])[A-Za-z]{0,6}\d(?:[ .\-/]?[0-9A-Za-z]){4,20}(?:\([0-9A]\))?(?![A-Za-z0-9])/g;

const YEARS = /^(?:19|20)\d\d[-/ ](?:19|20)\d\d$/;

/** Three groups of digits or more are one number, of which a part may be valid by chance. */
const GROUPS = /^\d+(?: \d+){2,}$/;

/** National ids in a short text. Words may follow an id: what is behind a space is left out. */
function idsIn(window: string, country?: string): readonly Stretch[] {
  const found: Stretch[] = [];
  for (const { index, 0: run } of window.matchAll(ID_RUN)) {
    let value = run;
    while (value.length > 6 && !isNationalId(value, true, country)) {
      value = GROUPS.test(value) ? '' : value.slice(0, Math.max(0, value.lastIndexOf(' ')));
    }
    if (value.length > 6 && !YEARS.test(value))
      found.push({ start: index, end: index + value.length });
  }
  return found;
}

const ID_PLAIN = stretches(
  /(?<![A-Za-z0-9.])[A-Z]{0,3}\d[\d.\-/ ]{5,18}[\dA-Z](?![A-Za-z0-9])/g,
  (value) => {
    const digits = value.replace(/\D/g, '').length;
    return digits >= 8 && digits <= 14;
  },
);
/** Labels that name one country's number: only its own check digits make such a number. */
const OF_ONE_COUNTRY: readonly (readonly [label: RegExp, country: string])[] = [
  [/bsn|burgerservice|sofinummer/i, 'NL'],
  [/pesel/i, 'PL'],
  [/cpf/i, 'BR'],
  [/aadha|uidai|आधार/i, 'IN'],
  [/codice.?fiscale|cod\.? ?fisc|c\.f\./i, 'IT'],
  [/curp/i, 'MX'],
  [/cui[lt]/i, 'AR'],
  [/hetu|henkil/i, 'FI'],
  [/nric/i, 'SG'],
  [/hkid/i, 'HK'],
  [/tckn|kimlik/i, 'TR'],
  [/jmbg/i, 'RS'],
  [/マイナンバー|個人番号/, 'JP'],
  [/주민등록/, 'KR'],
];

const countryNamedBy = (label: string): string | undefined =>
  OF_ONE_COUNTRY.find(([name]) => name.test(label))?.[1];

// A label that names no scheme: there is no known check digit.
const UNSPECIFIC =
  /national[ _-]?id|identity (?:card|number)|personal (?:id|identification) (?:number|code|no)|citizen[ _-]?id/i;

/** Near to half of all numbers of eight or nine digits are valid in some country. */
const OFTEN_VALID = /^\d{8,9}$/;
/** Names of numbers of another length or with letters; other things are called so, too. */
const OF_OTHER_FORM = /^[_-]?(?:fin|cf|pan|inn|nik|nir|pnr|cpf|cnpj|curp|pesel|run)(?![a-z])/i;
const OF_A_THING =
  /(?:device|machine|order|build|product|batch|item|part|serial|job|vehicle|model|asset|node|host|event|message|session|process|request|ticket)s?[ _-]$/i;
const OF_NO_PERSON = /^(?:id|identif)/i;

/** Whether the label is too little evidence for a number that is often valid by chance. */
const isWeak = (text: string, start: number, end: number): boolean =>
  OF_OTHER_FORM.test(text.slice(start, end + 1)) ||
  (OF_NO_PERSON.test(text.slice(start, end)) &&
    OF_A_THING.test(text.slice(Math.max(0, start - 16), start)));

const idLabelled: Judge = (text, start, end) => {
  const isDoubtful = isWeak(text, start, end);
  const country = countryNamedBy(text.slice(start, end));
  const checked = findNear(text, start, end, { after: 50, before: 24 }, (window) =>
    idsIn(window, country).filter(
      (id) => !(isDoubtful && OFTEN_VALID.test(window.slice(id.start, id.end))),
    ),
  );
  if (checked.length > 0 || !UNSPECIFIC.test(text.slice(start, end + 10))) return checked;
  return findNear(text, start, end, { after: 30, before: 0 }, ID_PLAIN);
};

/** Ten digits or more: shorter ones are too often valid by chance. */
const idOfPerson: Judge = (text, start, end) =>
  findNear(text, start, end, { after: 60, before: 0 }, (window) =>
    idsIn(window).filter((id) => window.slice(id.start, id.end).replace(/\D/g, '').length >= 10),
  );

/** A German passport or identity card has no vowels; a check digit may follow. */
const GERMAN_DOCUMENT = /^(?=\D*\d)(?=\d*[A-Z])[CFGHJKLMNPRTVWXYZ0-9]{9}\d?$/;
const DOCUMENT_NEAR = stretches(
  /(?<![A-Za-z0-9])\d{5}\/\d{2}\/\d{4}(?!\d)|(?<![A-Za-z0-9])(?=[A-Z0-9 -]{0,14}\d)[A-Z]{0,3}[ -]?\d[A-Z0-9-]{3,16}\d?[A-Z0-9]{0,2}(?![A-Za-z0-9])|(?<![A-Za-z0-9])(?:[A-Z][A-Z0-9]{7,17}|[CFGHJKLMNPRTVWXYZ0-9]{9,10})(?![A-Za-z0-9])/g,
  (value) =>
    GERMAN_DOCUMENT.test(value) ||
    ((value.replace(/\D/g, '').length >= 4 || /^[A-Z][A-Z0-9]{7,11}$/.test(value)) &&
      value.replace(/[ -]/g, '').length >= 6 &&
      /\d[^\d]*\d/.test(value) &&
      !isDateLike(value)),
);

const whole: Judge = (_text, start, end) => [{ start, end }];

/** The candidate's last string, if it has digits. */
const lastQuoted: Judge = (text, start, end) => {
  const value =
    text
      .slice(start, end - 1)
      .split('"')
      .at(-1) ?? '';
  return value.replace(/\D/g, '').length >= 4
    ? [{ start: end - 1 - value.length, end: end - 1 }]
    : NOTHING;
};

const documentLabelled: Judge = (text, start, end) =>
  findNear(text, start, end, { after: 48, before: 0 }, DOCUMENT_NEAR);

const isDateLike = (value: string): boolean =>
  /^(?:19|20)\d\d[-/.]?\d\d[-/.]?\d\d$|^\d\d[-/.]\d\d[-/.](?:19|20)\d\d$|^(?:19|20)\d\d$/.test(
    value,
  );

const RECORD_NEAR = stretches(
  /(?<![A-Za-z0-9.$€£])(?:[A-Z]{1,4}[-_/](?=[A-Z]{1,6}[-_/]?\d))?(?:[A-Za-z]{1,6}[-_/# ]{0,2})?\d[A-Z0-9]{0,14}(?:(?:[-./ ]|\/\/)\d[A-Z0-9]{1,11}){0,4}(?:[-/]?[A-Z]{1,3})?(?![A-Za-z0-9%])/g,
  (value) => {
    const digits = value.replace(/\D/g, '').length;
    return digits >= 4 && digits <= 20 && !isDateLike(value);
  },
);

/** Eight digits may be a date; after a sign they are the number that the label announces. */
const DATED_NUMBER =
  /^["']?[ \t]{0,2}(?:[:=#]|is |no\.? |number )[ \t]{0,2}["']?((?:19|20)\d{6})(?![\d.,/-])/i;
/** A count of something that the words before it name: "number of visitors: 12345". */
const COUNTED =
  /\b(?:of (?!(?:(?:our|your|my|his|her|their|this|that|the|an?) )?(?:customer|client|patient|member|insured|employee|pupil|student|guest|resident|person|user)\b)(?:the )?(?:[a-z]|\d)|(?:by|than) \d|(?:increas|decreas|reduc)ed |(?:grew|rose|fell|dropped) )/;

const FOUR_WORDS = /(?:[A-Za-z]{3,}[^A-Za-z]+){3}[A-Za-z]{3,}/;

/** Whose cases are public. */
const OF_A_COURT = /\b(?:court|tribunal|docket|plaintiff|U\.S\.C?|F\.[23]d)(?![a-z])/i;

/** By their places in the law, tax offices file what they decree: S 2334. */
const OF_A_DECREE = /^S \d{4}$/;

/** A number close after the label: of five digits or more, or of four in its own form. */
const recordLabelled: Judge = (text, start, end) => {
  const isCase = /^case/i.test(text.slice(start, end));
  if (isCase && OF_A_COURT.test(around(text, start, end, 60, 60))) return NOTHING;
  const dated = DATED_NUMBER.exec(text.slice(end, end + 24));
  if (dated) {
    const to = end + dated[0].length;
    return [{ start: to - 8, end: to }];
  }
  const found = findNear(text, start, end, { after: 40, before: 0 }, RECORD_NEAR);
  return found.filter((stretch) => {
    const value = text.slice(stretch.start, stretch.end);
    const gap = text.slice(end, stretch.start);
    // In a column of a table, the names of others and the row's other cells stand between.
    if (!gap.includes('\n') && FOUR_WORDS.test(gap) && !/:[ \t]{0,3}$/.test(gap)) return false;
    if (COUNTED.test(`${gap}${value}`)) return false;
    // An id that a machine made goes on behind its number.
    if (/^[-_.][A-Za-z0-9]{16}/.test(text.slice(stretch.end, stretch.end + 17))) return false;
    if (/^[0-9a-f]{8}-[0-9a-f]{4}/i.test(text.slice(stretch.start, stretch.start + 13)))
      return false;
    if (isInUuid(text, stretch) || OF_A_DECREE.test(value)) return false;
    if (
      isUniform(value.replace(/\D/g, '')) &&
      /muster|example|beispiel|exemple/i.test(text.slice(stretch.end, stretch.end + 16))
    )
      return false;
    if (/^(?:19|20)\d\d$/.test(value) || /rfc|iso|http|port/i.test(gap)) return false;
    return value.replace(/\D/g, '').length >= 5 || /[A-Z-]/.test(value);
  });
};

/** Medicare Beneficiary Identifier: where CMS puts letters, and those it leaves out. */
const MBI = stretches(
  /(?<![A-Za-z0-9-])[1-9][AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y0-9]\d[ -]?[AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y0-9]\d[ -]?[AC-HJKMNP-RT-Y]{2}\d{2}(?![A-Za-z0-9-])/gi,
);

const NHS = stretches(/(?<![\d.])\d{3}[ -]\d{3}[ -]\d{4}(?!\d)/g);

/** People: who they are, and the numbers under which others file them. */
export const IDENTITY: readonly BuiltinPattern[] = [
  {
    name: 'us_ssn',
    severity: 'critical',
    description: 'Social Security number of the United States.',
    expressions: [
      { expression: String.raw`\b\d{3}-\d{2}-\d{4}\b`, judge: withoutSamples(ssnWritten) },
      { expression: String.raw`_\d{3}-\d{2}-\d{4}`, judge: withoutSamples(ssnInName) },
      { expression: afterEscape(SSN_LABELS), judge: withoutSamples(ssnLabelled) },
    ],
    validator: 'ranges that are given; nine digits or other separators only beside a word for it',
  },
  {
    name: 'uk_nino',
    severity: 'high',
    description: 'National Insurance number of the United Kingdom.',
    expressions: [
      {
        expression: String.raw`\b[A-Za-z]{2}[ -]?\d{2}[ -]?\d{2}[ -]?\d{2}[ -]?[A-Da-d]\b`,
        judge: ninoWritten,
      },
      { expression: afterEscape(NINO_LABELS), judge: ninoLabelled },
    ],
    validator: 'letters and prefixes that are given',
  },
  {
    name: 'national_id',
    severity: 'high',
    description:
      'National identity, tax or social insurance number: BE, BR, CA, CH, CL, CN, DE, ES, FI, FR, GR, HK, IE, IL, IN, IT, JP, KR, MX, NL, NO, PL, PT, RO, SE, SG, TR, ZA; beside a word for it also AE, AR, AT, AU, BG, CZ, DK, EE, HR, HU, KZ, LV, RS, RU, TH, TW, UA; close behind its own name also EG, ID, MY, NG, NZ, PK, SA, SI, VN and Latin American ones.',
    expressions: [
      String.raw`\b\d{17}[\dXx]\b`,
      String.raw`(?i)\b[A-Z]{4}\d{6}[HMX][A-Z]{5}[A-Z0-9]\d\b`,
      String.raw`(?i)\b[A-Z]{3} ?[A-Z]{3} ?[0-9LMNP-V]{2}[A-EHLMPR-T][0-9LMNP-V]{2} ?[A-Z][0-9LMNP-V]{3}[A-Z]\b`,
      String.raw`\b[12] ?\d{2} ?\d{2} ?(?:\d{2}|2[ABab]) ?\d{3} ?\d{3} ?\d{2}\b`,
      String.raw`\b\d{6}-?\d{7}\b|\b\d{6} \d{4} \d{3}\b`,
      String.raw`\b756[. ]?\d{4}[. ]?\d{4}[. ]?\d{2}\b`,
      String.raw`\b\d{4}[ -]\d{4}[ -]\d{4}\b`,
      String.raw`\b\d{3}\.\d{3}\.\d{3}-\d{2}\b|\b\d{2}\.\d{2}\.\d{2}-\d{3}[.-]\d{2}\b`,
      String.raw`\b\d{2} \d{3} \d{3} \d{3}\b|\b\d{1,2}\.\d{3}\.\d{3}-[\dKk]\b`,
      String.raw`\b\d{6}[-+A-FU-Y]\d{3}[0-9A-Y]\b|\b(?:19|20)\d{6}[-+]\d{4}\b`,
      String.raw`\b(?:\d{8}|[XYZxyz]-?\d{7})-?[A-Za-z]\b|\b[STFGM]\d{7}[A-Z]\b|\b\d{2}\.\d{3}\.\d{3}[ -]?[A-Z]\b`,
      ...[...NATIONAL_ID_LABELS, ...WORLD_ID_LABELS].map((expression) => ({
        expression,
        judge: idLabelled,
      })),
      ...OWN_IDS,
      { expression: PERSON_LABELS, judge: idOfPerson },
    ],
    validator: "each country's check digits, and a form of its own or a word for it",
    judge: idWritten,
  },
  {
    name: 'identity_document',
    severity: 'medium',
    description: 'Number of a passport, driving licence, identity card or residence permit.',
    expressions: [
      ...[...DOCUMENT_LABELS, ...WORLD_DOCUMENT_LABELS].map((expression) => ({
        expression,
        judge: documentLabelled,
      })),
      // The names in the machine-readable zone.
      { expression: String.raw`\b[PIACV][A-Z<][A-Z]{3}[A-Z]{1,39}<<[A-Z<]{5,40}`, judge: whole },
    ],
    validator: 'beside a word for it, or in the zone for machines',
  },
  {
    name: 'date_of_birth',
    severity: 'medium',
    description: 'Date of birth, in the formats of many languages.',
    expressions: [BIRTH_LABELS, BIRTH_BEHIND_ESCAPE, ...WORLD_BIRTH_LABELS].map((expression) => ({
      expression,
      judge: withoutPlaceholders(birth),
    })),
    validator: 'a possible date beside a word for birth',
  },
  {
    name: 'record_number',
    severity: 'medium',
    description: 'Number of a patient, customer, member, insured, pupil or employee.',
    expressions: [
      ...[...RECORD_LABELS, ...WORLD_RECORD_LABELS, RECORD_BEHIND_ESCAPE].map((expression) => ({
        expression,
        judge: recordLabelled,
      })),
      ...INSURED_AND_HELD,
      // The patient's segment of HL7.
      {
        expression: String.raw`\bPID\|\d{0,4}\|[^|\n]{0,40}\|[A-Z0-9][A-Z0-9-]{3,23}\^`,
        judge: whole,
      },
      // An identifier of FHIR whose code says what it is, and HL7's codes of a patient's numbers.
      {
        expression: `"code"[ ]?:[ ]?"(?:MR|MRN|MRT|PI|PT|PN|MB|SN|EI|HC|MC|MA)"[^{]{0,200}?"value"[ ]?:[ ]?"[A-Z0-9][A-Z0-9.-]{3,23}"`,
        judge: lastQuoted,
      },
      {
        expression: String.raw`(?i)\bmbis?\b|medicare|\bcms\b|beneficiary`,
        judge: (text, start, end) => findNear(text, start, end, { after: 60, before: 24 }, MBI),
      },
      {
        expression: String.raw`(?i)\bnhs\b`,
        judge: (text, start, end) => findNear(text, start, end, { after: 60, before: 24 }, NHS),
      },
    ],
    validator: 'beside a word for it',
  },
];
