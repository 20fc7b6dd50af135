/** The half that the scanner may be tuned on. The test half shares no carrier with it. */
import { ALNUM, DIGITS, Draw, HEX, LOWER, UPPER, withIbanCheck, withLuhn } from './draw.ts';
import type { LabelledText } from './labelled-text.ts';

const turned = (text: string): string => [...text].reverse().join('');
const hex = (text: string): string => Buffer.from(text).toString('hex');
const rot13 = (text: string): string =>
  text.replace(/[a-z]/gi, (letter) => {
    const base = letter < 'a' ? 65 : 97;
    return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base);
  });
const each = (text: string, form: (character: string) => string): string =>
  [...text].map(form).join('');
const code = (character: string): number => character.codePointAt(0) ?? 0;

export const DISGUISES: Readonly<Record<string, (text: string, draw: Draw) => string>> = {
  base64: (text) => Buffer.from(text).toString('base64'),
  base64url: (text) => Buffer.from(text).toString('base64url'),
  base64_twice: (text) => Buffer.from(Buffer.from(text).toString('base64')).toString('base64'),
  hex,
  url: (text) => each(text, (character) => `%${hex(character)}`),
  html: (text) => each(text, (character) => `&#${code(character)};`),
  unicode: (text) =>
    each(text, (character) => `\\u${code(character).toString(16).padStart(4, '0')}`),
  reversed: turned,
  rot13,
  zero_width: (text) => [...text].join('\u200b'),
  full_width: (text) =>
    each(text, (character) =>
      code(character) > 32 ? String.fromCodePoint(code(character) + 0xfee0) : character,
    ),
  homoglyph: (text) =>
    text.replace(/[AEOPCaeopc]/g, (letter) => 'АЕОРСаеорс'['AEOPCaeopc'.indexOf(letter)] ?? letter),
  spaced: (text) => [...text.replace(/ /g, '')].join(' '),
  dashed: (text) => [...text.replace(/[ -]/g, '')].join('-'),
  concatenated: (text, draw) => {
    const at = 3 + draw.int(Math.max(1, text.length - 6));
    return `"${text.slice(0, at)}" + "${text.slice(at)}"`;
  },
  fields: (text, draw) => {
    const at = 3 + draw.int(Math.max(1, text.length - 6));
    return JSON.stringify({ part1: text.slice(0, at), part2: text.slice(at) });
  },
};

const card = (draw: Draw): string => {
  const digits = withLuhn(
    draw.one(['4', '51', '53', '55', '2221', '6011']).padEnd(15, draw.digits(15)),
  );
  return draw.one([
    digits,
    digits.replace(/(.{4})(?=.)/g, '$1 '),
    digits.replace(/(.{4})(?=.)/g, '$1-'),
  ]);
};
const iban = (draw: Draw): string => {
  const compact = draw.one([
    withIbanCheck('DE', draw.digits(18)),
    withIbanCheck('FR', draw.digits(23)),
    withIbanCheck('GB', `${draw.chars(UPPER, 4)}${draw.digits(14)}`),
    withIbanCheck('NL', `${draw.chars(UPPER, 4)}${draw.digits(10)}`),
  ]);
  return draw.one([compact, compact.replace(/(.{4})(?=.)/g, '$1 ')]);
};
const issuerKey = (draw: Draw): string =>
  draw.one([
    `AKIA${draw.chars(UPPER + DIGITS, 16)}`,
    `ghp_${draw.chars(ALNUM, 36)}`,
    `glpat-${draw.chars(ALNUM, 20)}`,
    `xoxb-${draw.digits(12)}-${draw.digits(12)}-${draw.chars(ALNUM, 24)}`,
    `sk_live_${draw.chars(ALNUM, 24)}`,
    `AIza${draw.chars(ALNUM, 35)}`,
    `SG.${draw.chars(ALNUM, 22)}.${draw.chars(ALNUM, 43)}`,
    `npm_${draw.chars(ALNUM, 36)}`,
    `sk-proj-${draw.chars(ALNUM, 48)}`,
    `sk-ant-api03-${draw.chars(ALNUM, 90)}AA`,
  ]);
const nino = (draw: Draw): string => {
  const compact = `${draw.chars('ABCEHJLMPRSTWXYZ', 1)}${draw.chars('ABCEHJLMPRSTWXYZ', 1)}${draw.digits(6)}${draw.chars('ABCD', 1)}`;
  return draw.one([compact, compact.replace(/^(..)(..)(..)(..)(.)$/, '$1 $2 $3 $4 $5')]);
};
const ssn = (draw: Draw): string =>
  `${100 + draw.int(500)}-${10 + draw.int(89)}-${1000 + draw.int(8999)}`;
const password = (draw: Draw): string =>
  draw.one([
    `${draw.one(['Sommer', 'Tiger', 'Blue', 'Falcon'])}${draw.digits(3)}${draw.one(['!', '#', '$'])}`,
    draw.chars(`${ALNUM}!@#%`, 14),
    `${draw.chars(LOWER, 5)}-${draw.digits(4)}-${draw.chars(LOWER, 4)}`,
  ]);
const date = (draw: Draw): string => {
  const [year, month, day] = [1940 + draw.int(70), 1 + draw.int(12), 1 + draw.int(28)];
  const two = (number: number) => String(number).padStart(2, '0');
  return draw.one([
    `${year}-${two(month)}-${two(day)}`,
    `${two(day)}.${two(month)}.${year}`,
    `${two(month)}/${two(day)}/${year}`,
    `${day} ${draw.one(['March', 'June', 'Oktober', 'février', 'enero'])} ${year}`,
  ]);
};

interface Kind {
  readonly category: string;
  readonly value: (draw: Draw) => string;
  readonly carriers: readonly string[];
  readonly disguised: boolean;
}

const PROSE = [
  'Please use {} for this.',
  'Forwarded: {}',
  'note to self {}\nbye',
  'value={}',
  '{"data": "{}"}',
];

const KINDS: readonly Kind[] = [
  {
    category: 'card',
    value: card,
    carriers: ['Charge the card {} today', ...PROSE],
    disguised: true,
  },
  { category: 'iban', value: iban, carriers: ['Send it to {} please', ...PROSE], disguised: true },
  { category: 'issuer_key', value: issuerKey, carriers: PROSE, disguised: true },
  {
    category: 'nino',
    value: nino,
    carriers: ['My national insurance number is {}.', 'NINO: {}'],
    disguised: true,
  },
  {
    category: 'ssn',
    value: ssn,
    carriers: ['SSN: {}', 'her social security number {} is on file', '{"ssn": "{}"}'],
    disguised: true,
  },
  {
    category: 'password',
    value: password,
    carriers: [
      'password = "{}"',
      'DB_PASSWORD={}',
      'the password is {}',
      'password: {}',
      '{"user": "anna", "password": "{}"}',
      '<password>{}</password>',
      'Das Passwort lautet {}',
      'mot de passe : {}',
      'mysql -u root --password={}',
      'user,password\nanna,{}\n',
      "INSERT INTO users (name, password) VALUES ('anna', '{}')",
      'contraseña: {}',
      'pwd={};',
    ],
    disguised: false,
  },
  {
    category: 'generic_secret',
    value: (draw) => draw.one([draw.chars(ALNUM, 32), draw.chars(HEX, 40), draw.chars(ALNUM, 24)]),
    carriers: [
      'api_key: {}',
      'const clientSecret = "{}";',
      'Authorization: Bearer {}',
      'export AUTH_TOKEN={}',
      '{"apiKey":"{}"}',
      "secret_key = '{}'",
    ],
    disguised: false,
  },
  {
    category: 'date_of_birth',
    value: date,
    carriers: [
      'DOB: {}',
      'date of birth {}',
      'She was born on {} in Leeds.',
      'Geburtsdatum: {}',
      '{"dateOfBirth": "{}"}',
      'né le {}',
      'name,dob\nanna,{}\n',
    ],
    disguised: false,
  },
  {
    category: 'record_number',
    value: (draw) =>
      draw.one([draw.digits(7), `${draw.chars(UPPER, 2)}-${draw.digits(6)}`, draw.digits(10)]),
    carriers: [
      'MRN: {}',
      'Patient ID {}',
      'medical record number {}',
      'Kundennummer {}',
      'Customer number: {}',
      '{"mrn": "{}"}',
      'Versichertennummer: {}',
    ],
    disguised: false,
  },
  {
    category: 'private_key',
    value: (draw) => draw.chars(`${ALNUM}+/`, 64),
    carriers: ['-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----'],
    disguised: false,
  },
  {
    category: 'connection',
    value: password,
    carriers: [
      'postgres://app:{}@db.internal:5432/main',
      'mongodb+srv://admin:{}@cluster0.mongodb.net/x',
    ],
    disguised: false,
  },
  {
    category: 'email',
    value: (draw) =>
      `${draw.one(['anna', 'marc'])}.${draw.chars(LOWER, 6)}@${draw.one(['gmail.com', 'web.de'])}`,
    carriers: ['Write to {} please'],
    disguised: true,
  },
];

const NEGATIVES: readonly ((draw: Draw) => string)[] = [
  (draw) => `commit ${draw.chars(HEX, 40)}\nAuthor: the build\n\n    Fix the parser`,
  (draw) =>
    `"id": "${draw.chars(HEX, 8)}-${draw.chars(HEX, 4)}-4${draw.chars(HEX, 3)}-a${draw.chars(HEX, 3)}-${draw.chars(HEX, 12)}"`,
  (draw) => `sha256:${draw.chars(HEX, 64)}`,
  (draw) =>
    draw.one([
      'password = os.environ["DB_PASSWORD"]',
      'API_KEY=YOUR_API_KEY_HERE',
      'token: $\u007bGITHUB_TOKEN}',
      'const secret = process.env.SECRET;',
      'password: <your password>',
      'api_key = "xxxxxxxxxxxxxxxx"',
      'export TOKEN=<token>',
      'password=********',
    ]),
  (draw) =>
    `Order ${draw.digits(8)} was shipped; tracking number 1Z${draw.chars(UPPER + DIGITS, 16)}.`,
  (draw) =>
    `ISBN 978-3-16-${draw.digits(6)}-0, version ${draw.int(20)}.${draw.int(20)}.${draw.int(90)}`,
  (draw) =>
    `2026-0${1 + draw.int(9)}-1${draw.int(9)}T10:${10 + draw.int(49)}:00Z INFO request took ${draw.int(900)} ms, ts=17${draw.digits(11)}`,
  (draw) =>
    draw.one([
      'The password must have at least 12 characters.',
      'Forgot your password? Reset it here.',
      'Tokens expire after 30 minutes; see the policy.',
      'Enter your date of birth in the format DD/MM/YYYY.',
      'We never ask for your card number by mail.',
      'The secret of good bread is time.',
      'Your password has been changed.',
      'Set max_tokens: 4096 and temperature: 0.7.',
    ]),
  (draw) =>
    `function hashPassword(password: string): Promise<string> {\n  return bcrypt.hash(password, ${draw.int(12)});\n}`,
  (draw) =>
    `![logo](data:image/png;base64,${Buffer.from(Array.from({ length: 120 }, () => draw.int(256))).toString('base64')})`,
  (draw) =>
    `"integrity": "sha512-${Buffer.from(Array.from({ length: 64 }, () => draw.int(256))).toString('base64')}"`,
  (draw) =>
    `SELECT id, total FROM orders WHERE id = ${draw.digits(6)} AND total > ${draw.digits(3)}.50;`,
  (draw) =>
    `The meeting on ${1 + draw.int(28)} March is moved to room ${draw.digits(3)}; bring ${draw.int(20)} copies.`,
  (draw) =>
    `Card number ${withLuhn(`4${draw.digits(14)}`).replace(/.$/, (digit) => String((Number(digit) + 1) % 10))} was refused as invalid.`,
  () => 'Contact user@example.com or call 555-0100 for help.',
];

/** @param size number of cases; two thirds are positive */
export function tuningHalf(size: number, seed = 1): LabelledText[] {
  const draw = new Draw(seed);
  const cases: LabelledText[] = [];
  const names = Object.keys(DISGUISES);
  for (let i = 0; i < size; i++) {
    if (i % 3 === 2) {
      const index = draw.int(NEGATIVES.length);
      cases.push({
        text: NEGATIVES[index]?.(draw) ?? '',
        kind: 'negative',
        category: `negative_${index}`,
      });
      continue;
    }
    const kind = draw.one(KINDS);
    const disguise = kind.disguised && draw.int(3) > 0 ? draw.one(names) : undefined;
    const value = kind.value(draw);
    const shown = disguise ? (DISGUISES[disguise]?.(value, draw) ?? value) : value;
    const text = draw.one(kind.carriers).replace('{}', () => shown);
    cases.push({
      text,
      kind: 'positive',
      category: disguise ? `${kind.category}/${disguise}` : kind.category,
    });
  }
  return cases;
}
