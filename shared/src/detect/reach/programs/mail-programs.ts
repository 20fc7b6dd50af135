/** To whom programs of a command line send mail. */
import { escalates } from '../reach-finding.ts';
import { wordSet } from '../word-set.ts';

interface MailProgram {
  /** Letters of options whose value is a recipient. */
  readonly to: string;
  /** Those with another value. */
  readonly value: string;
  /** Whether its operands are recipients. */
  readonly takesOperands: boolean;
}

const mailx: MailProgram = { to: 'cb', value: 'sraAqSfFuTeEMX', takesOperands: true };
const mutt: MailProgram = { to: 'cb', value: 'saFfeiHmnQ', takesOperands: true };
const sendmail: MailProgram = { to: '', value: 'fFrBCNRVXLOpDhdqo', takesOperands: true };
const swaks: MailProgram = { to: 't', value: 'fsphdn', takesOperands: false };
const PROGRAMS = new Map([
  ['mail', mailx],
  ['mailx', mailx],
  ['s-nail', mailx],
  ['mutt', mutt],
  ['neomutt', mutt],
  ['sendmail', sendmail],
  ['msmtp', sendmail],
  ['swaks', swaks],
]);
const LONG = wordSet('--to --cc --bcc');

export const TO_LISTED = escalates(
  'email_recipients',
  'the call sends mail to whom another command lists',
);

export const isMailProgram = (name: string): boolean => PROGRAMS.has(name);

/** @param words after the program */
export function readMailOf(name: string, words: readonly string[]): string[] {
  const program = PROGRAMS.get(name);
  if (program === undefined) return [];
  const found: string[] = [];
  let isOver = false;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string;
    if (isOver || !word.startsWith('-')) {
      // Local users have no address, and are few.
      if (program.takesOperands && word.includes('@')) found.push(word);
    } else if (word === '--') isOver = true;
    else if (word.startsWith('--')) {
      const end = word.indexOf('=');
      if (!LONG.has(end < 0 ? word : word.slice(0, end))) continue;
      found.push(end < 0 ? (words[++at] ?? '') : word.slice(end + 1));
    } else {
      const letter = word[1] ?? '';
      const isTo = letter !== '' && program.to.includes(letter);
      // The value may follow without a blank.
      const isNext = word.length === 2 && (isTo || program.value.includes(letter));
      const value = isNext ? (words[++at] ?? '') : word.slice(2);
      if (isTo) found.push(value);
    }
  }
  return found;
}

/** Code and requests by which mail is sent. */
const SENDS_MAIL =
  /\bsmtplib\b|\bnodemailer\b|\bsend-?_?mail\w{0,10}\b|\bsend-mailmessage\b|\bnew (?:to|cc|bcc) recipient\b|\/mail\/send\b|\bapi\.(?:mailgun|postmarkapp|sendgrid|resend|brevo|mailjet|sparkpost)\b|\bsend_?messages?\(/i;
const ADDRESS = /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}/g;

/** The addresses in a command line or in code that sends mail. */
export function addressesIn(text: string): readonly string[] {
  return text.includes('@') && SENDS_MAIL.test(text) ? (text.match(ADDRESS) ?? []) : [];
}
