/**
 * Marks of disguises: of those that transform a whole text, and of separated characters. They are
 * in the same set as the patterns, so that looking for them needs no pass of its own.
 */
import { rot13 } from '../../rot13.ts';
import { CALL_MARKS } from './calls.ts';
import { ISSUER_MARKS } from './issuer-marks.ts';
import { PART_MARKS } from './parts.ts';
import { PIECES_BELOW } from './pieces-below.ts';
import { ROW_MARK } from './rows.ts';
import { SPELLED_DIGITS } from './spelled.ts';

export type Gate =
  | 'reversed'
  | 'rot13'
  | 'reversed rot13'
  | 'codes'
  | 'separated'
  | 'calls'
  | 'rows'
  | 'parts';

/** Marks of issuers that count only with as much of a key as no word has behind them. */
const SHORT_MARKS = ['SG.', 'hf_', 'r8_', 'sk-'];
const PART_OF_KEY = '[A-Za-z0-9_-]{20}';

/** Marks of keys that are shorter, and of what no issuer made. */
const MARKS = ['hf_', 'eyJ', 'AccountKey=', 'PRIVATE KEY'];
/**
 * Words of the labels in `../patterns/labels.ts`, which no ordinary text holds in a disguise: whoever
 * sees one reads the text once more. In lower case, since they are matched in any.
 */
export const WORDS =
  words(`password passwort passwd passphrase passcode passord kennwort codewort geheim
  zugang contrase palavra passe wachtwoord lösenord losenord adgangskode salasana parola hasło haslo
  heslo jelsz şifre lozinka пароль 密码 密碼 パスワード 暗証番号 비밀번호 secret segret token jeton токен
  apikey authkey clientkey signingkey credential credenc credenz identifiants access login security
  schlüssel schluessel llave chiave sleutel klucz birth geburt geboren geboort naissance nacimiento
  nascita nascim urodz födelse 生年月日 出生 social insurance versicherung assuranc national identity
  ausweis credit kredit tarjeta carte bancaire account konto compte cuenta rekening routing passport
  reisepass passeport pasaporte passaporto licen führerschein patient paciente paziente medical health
  record member customer kunden cliente employee mitglied number nummer numero número matricul codice
  fiscale phone telefon mobile rufnummer email`);
/** These do occur as a part of other words. Not `nhs`, `dob`, `née`: `auf`, `QBO` and `een` are words. */
export const SHORT_WORDS =
  words(`pass pwd pin psk puk mdp otp clave senha creds key keys xauth born ssn mrn
  nino iban card karte fax bsn pesel code clé nato handy`);

function words(list: string): readonly string[] {
  return list.split(/\s+/);
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
const turned = (text: string): string => [...text].reverse().join('');

/** Rot13 leaves other alphabets as they are, so that their words are no sign of it. */
const anyOf = (marks: readonly string[], disguise: (text: string) => string): string => {
  const disguised = marks.filter((mark) => disguise(mark) !== mark);
  return `(?:${disguised.map((mark) => escaped(disguise(mark))).join('|')})`;
};

/** Marks for one expression, which may not be too long. */
const MARKS_AT_ONCE = 80;

function issuers(disguise: (text: string) => string): string[] {
  const expressions: string[] = [];
  for (let at = 0; at < ISSUER_MARKS.length; at += MARKS_AT_ONCE) {
    expressions.push(anyOf(ISSUER_MARKS.slice(at, at + MARKS_AT_ONCE), disguise));
  }
  return expressions;
}

function marks(disguise: (text: string) => string, others: readonly string[]): string[] {
  return [
    ...issuers(disguise),
    anyOf(others, disguise),
    `(?i)${anyOf(WORDS, disguise)}`,
    String.raw`(?i)(?:\b|_)${anyOf(SHORT_WORDS, disguise)}(?:\b|_)`,
  ];
}

const BOTH = (text: string): string => turned(rot13(text));

export const GATES: readonly { gate: Gate; expressions: readonly string[] }[] = [
  {
    gate: 'reversed',
    expressions: [
      ...marks(turned, MARKS),
      // URLs with a user; escapes of URLs, HTML and programs.
      String.raw`@[^\s/@]*//:[A-Za-z]`,
      String.raw`(?:[0-9A-Fa-f]{2}%){6}|(?:;[0-9A-Fa-f]{2,5}x?#&){3}|(?:[0-9A-Fa-f]{4}u\\){3}`,
      String.raw`${PART_OF_KEY}${anyOf(SHORT_MARKS, turned)}\b|\bmoc\.kcals|//:s?ptth`,
      // IBAN, national insurance number, e-mail address, card number.
      String.raw`\d[ -]?\d{2}[A-Z]{2}\b`,
      String.raw`\b[A-D][ -]?\d{2}[ -]?\d{2}[ -]?\d{2}[ -]?[A-Z]{2}\b`,
      String.raw`(?i)\b(?:moc|gro|ten|ed|ku\.oc|rf|oi)\.[a-z0-9-]+@[a-z0-9]`,
      // An IBAN whose bank has letters.
      String.raw`\d[A-Z]{4}\d{2}[A-Z]{2}\b`,
      String.raw`(?i)\breverse|backwards?\b|r[üu]ckw[äa]rts|umgekehrt|envers|al rev[ée]s|invert`,
      '(?i)omgekeerd|achterstevoren|al contrario|rovesci|ao contr[áa]rio|tr[áa]s para a frente|wspak|odwr[óo]|od ty[łl]u|bakvänt|baklänges|baklengs|baglæns|bagvendt|takaperin|pozp[áa]tku|obráceně|visszafel|tersten|ters sıra|наоборот|задом|зворотн|ανάποδα|αντίστροφ|逆順|逆さ|倒序|倒着|反过来|反轉|거꾸로|역순|بالعكس|הפוך',
      String.raw`\b\d(?:[ .-]?\d){14}`,
      // Dates, the year last or first, and US SSN.
      String.raw`\b\d{1,2}[-/.]\d{1,2}[-/.]\d{2}(?:91|02)\b|\b\d{4}-\d{2}-\d{3}\b`,
      String.raw`\b\d{2}(?:91|02)[-/.]\d{1,2}[-/.]\d{1,2}\b`,
    ],
  },
  {
    gate: 'codes',
    expressions: [
      String.raw`\b(?:(?:0x)?[0-9A-Fa-f]{2}[ :,;-]{1,2}){5}`,
      String.raw`\b(?:\d{2,3}[ ,;]{1,2}){5}`,
      String.raw`\b(?:(?:0x)?[0-9A-Fa-f]{2,3},?\n\s*){5}`,
      String.raw`\b0o[0-7]{2,3}[ ,;]{1,2}0o`,
      // Items of an array, each below the other with or without the same label.
      String.raw`(?:\b(?:0x)?[0-9A-Fa-f]{2,3}"?\n[^\n]{1,3}\n(?:[^\n:]*: "?)?){5}`,
      String.raw`(?i)cha?r\w*\s?\((?:0x)?[0-9a-f]{2,3}\)[\s|+.&,;]*(?:[a-z]+\.)?[a-z]*cha?r\w*\s?\(`,
      String.raw`(?i)[\[(]char[\])](?:0x)?[0-9a-f]{2,3}[\s|+.&,;]*[\[(]char[\])]`,
      String.raw`(?i)cha?r\w{0,2}\$\((?:&h)?[0-9a-f]{2,3}\)`,
      String.raw`(?i)(?:chrw?|zeichen|car(?:acter|att)?|teken|znak|tecken|tegn|unichar|rune|scalar|tostring|ascii|d2c|символ|симв)\(\s?(?:&h|0x)?[0-9a-f]{2,3}\)`,
      String.raw`(?i)[\[(]char[\])]\s?(?:0x)?[0-9a-f]{2,3}\s?[+,]\s?[\[(]char[\])]`,
      // Dumps: an offset and groups.
      String.raw`\b[0-9A-Fa-f]{4,8}:? {1,2}[0-9A-Fa-f]{4} [0-9A-Fa-f]{4} [0-9A-Fa-f]{4} `,
      String.raw`\b[0-9A-Fa-f]{8}: [0-9A-Fa-f]{8} [0-9A-Fa-f]{8} `,
      String.raw`\b(?:[01]{7,8}[ ,]{0,2}){5}`,
    ],
  },
  {
    gate: 'separated',
    expressions: [
      String.raw`\b[A-Za-z0-9](?:[ .\-_|,/*~:;][A-Za-z0-9_]){6}`,
      String.raw`\b[A-Za-z0-9](?: ?[.\-_|,/*~:;] ?[A-Za-z0-9_]){5}`,
      String.raw`\b[A-Za-z0-9](?: [A-Za-z0-9_@.+-]){6}`,
      String.raw`\b[A-Za-z0-9](?: {2,3}[A-Za-z0-9_]){5}`,
      String.raw`\b(?:AKIA|ASIA|gh[pousr]_|github_pat_|glpat-|sk[-_]|xox[abp]-|AIza|npm_|hf_|gsk_|eyJ|SG\.|GOCSPX-|pypi-)`,
      String.raw`\b(?:rk_live_|shp(?:at|ca|pa|ss)_|do[opr]_v1_|rubygems_|lin_api_|r8_|dckr_pat_|glsa_|figd_|ntn_|whsec_|sntry[su]_|sb_secret_|dapi[0-9a-f]|ATATT3|hvs\.|xapp-|NRAK-|PMAK-|pul-|xai-|key-)`,
      String.raw`\b\d{1,6}(?: ?[|,~:;+]{1,3} ?| {2,4}| ?[\-./_]{2,3} ?| [\-./_] )\d{1,6}(?: ?[|,~:;+]{1,3} ?| {2,4}| ?[\-./_]{2,3} ?| [\-./_] )\d`,
      String.raw`\b[A-Z]{2} ?[.\-_/|:] ?\d{2} ?[.\-_/|: ]`,
      '(?:\u00b7|\u2022) ?[0-9A-Za-z] ?(?:\u00b7|\u2022)',
      String.raw`\b[A-Z]{2}\d{2} ?[./|:] ?[A-Z0-9]{4} ?[./|:]`,
      ...SPELLED_DIGITS,
      PIECES_BELOW,
    ],
  },
  { gate: 'calls', expressions: CALL_MARKS },
  { gate: 'rows', expressions: [ROW_MARK] },
  { gate: 'parts', expressions: PART_MARKS },
  {
    gate: 'rot13',
    expressions: [
      ...marks(
        rot13,
        MARKS.filter((mark) => mark !== 'hf_'),
      ),
      String.raw`\b${anyOf(SHORT_MARKS, rot13)}${PART_OF_KEY}`,
      String.raw`(?:%[2-7][0-9N-Sn-s]){6}|(?:\\h[0-9N-Sn-s]{4}){3}`,
      String.raw`\b[A-Z]{2}\d{2}[ ]?(?:[A-Z]{4}|\d{4})[ ]?\d{4}`,
      String.raw`\b[A-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[N-Q]\b`,
      String.raw`(?i)@[a-z0-9-]+\.(?:pbz|bet|arg|qr|vb|se|hx)\b`,
      String.raw`(?i)\brot-?13\b|caesar`,
      String.raw`(?i)\b(?:cbfgterf|cbfgterfdy|zlfdy|zbatbqo|erqvf|nzdc|uggcf?|sgc)(?:\+[a-z]+)?://`,
    ],
  },
  {
    gate: 'reversed rot13',
    expressions: [
      ...marks(
        BOTH,
        MARKS.filter((mark) => mark !== 'hf_'),
      ),
      String.raw`${PART_OF_KEY}${anyOf(SHORT_MARKS, BOTH)}\b`,
      String.raw`@[^\s/@]*//:(?:fretgfbc|yzdfl|obqbtabz|fvqre|cdzn|f?cggu|cgs)`,
    ],
  },
];
