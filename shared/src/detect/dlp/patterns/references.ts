/** What refers to a secret instead of being one: templates, aliases, names in a vault. */
import type { Stretch } from '../builtin-pattern.ts';
import type { FieldValue } from '../field-value.ts';
import { isMixed } from '../validators/secret-value.ts';

/** A resource's name: arn:aws:secretsmanager:eu-west-1:123456789012:secret:name. */
const OF_AN_ARN =
  /\barn:aws[a-z-]*:(?:[^\s"']*|(?:secretsmanager|ssm|kms):[a-z0-9-]{0,24}:[^:]{0,16}:)$/;
/** vault kv get -field=password path: behind the field's name stands where the secret is kept. */
const NAME_OF_A_FIELD = /(?:^|\s)--?fields?[ =]["']?$/i;
/** gcloud secrets versions access latest --secret=name */
const OPTION_OF_A_VAULT = /\bgcloud (?:[a-z]{1,8} )?secrets\b[^\n;|&]{0,80} --$/;

/**
 * @param before what stands before a label
 * @param isAssigned whether a sign of equality stands behind it
 */
export const isInReference = (before: string, isAssigned: boolean): boolean =>
  (!isAssigned && OF_AN_ARN.test(before)) || OPTION_OF_A_VAULT.test(before);

export const isFieldsName = (before: string): boolean => NAME_OF_A_FIELD.test(before);

/** What a payment service gives a shop in a card's place: of use only with the shop's own key. */
const OF_A_PAYMENT = /^(?:tok|card|src|pm|btok|ba)_[A-Za-z0-9]{6,40}$/;
const PAYMENT =
  /\b(?:pan|card|source|payment|stripe|charge|customer|merchant|amount|currency)|zahlung|paiement|pago\b|pagamento/i;

/** Whether a value is the name of a card or a payment; what stands around it must tell. */
export const isOfPayment = (text: string, { start, end }: Stretch): boolean =>
  OF_A_PAYMENT.test(text.slice(start, end)) &&
  PAYMENT.test(text.slice(Math.max(0, start - 100), end + 60).replace(text.slice(start, end), ''));

/** Whether a label is a scheme: secret://place. */
export const isPlace = (text: string, { start }: Stretch): boolean =>
  text[start - 1] === ':' && text.startsWith('//', start);

/** A variable without a default: `${DB_PASSWORD:?what to do if it is missing}`. */
export const isRequired = (text: string, start: number, end: number): boolean =>
  /\$\{\w{0,64}$/.test(text.slice(Math.max(0, start - 66), start)) &&
  /^\w{0,40}:?\?/.test(text.slice(end, end + 42));

/** {{ .password | b64enc }}: what a template fills in, or `{{` as far as it is read. */
export const isInTemplate = (text: string, start: number): boolean =>
  /\{\{[^{}\n]{0,60}$/.test(text.slice(Math.max(0, start - 62), start));

/** `credential 'harbor-push'`: what a server of builds or a vault calls one. */
const NAME_OF_CREDENTIAL = /^[a-z]{2,20}(?:[-_./][a-z]{2,20}|[-_./]?\d{1,3}(?![a-z\d])){1,6}$/;

export const isCredentialsName = (
  label: string,
  written: string,
  { link, quoted }: FieldValue,
): boolean =>
  quoted &&
  link === 'adjacent' &&
  /^cred(?:ential)?s?$/i.test(label) &&
  NAME_OF_CREDENTIAL.test(written);

/** How far before its alias an anchor with a mixed name may stand. */
const MAX_ANCHOR = 2_000;

/** A YAML alias: `password: *name`. A password may begin with the sign, too, but no name is mixed. */
export function isAlias(text: string, { start, end, link, quoted }: FieldValue): boolean {
  if (link !== 'assigned' || quoted || text[start - 1] !== '*') return false;
  const name = text.slice(start, end);
  return (
    /(?:^|[^:]):[ \t]{1,4}\*$/.test(text.slice(Math.max(0, start - 7), start)) &&
    /^[A-Za-z_][\w-]*$/.test(name) &&
    /^[ \t]{0,8}(?:$|[\r\n#,}])/.test(text.slice(end, end + 10)) &&
    (!isMixed(name) || text.slice(Math.max(0, start - MAX_ANCHOR), start).includes(`&${name} `))
  );
}

/** How far before its value a document says that it is sealed: some values of 700 characters. */
const MAX_SEALED = 6_000;
const MAX_BEHIND = 1_000;
const SEALED = /\bSealedSecret\b|\bencryptedData\b/;
/** Behind the head of the block, only lines that are indented, or the members of its object. */
const IN_SEALED_BLOCK = /^encryptedData\\?["']?:[ \t]{0,4}(?:\{[^{}]*|\r?(?:\n[ \t][^\n]*)+)$/;

/** Ciphertext of Sealed Secrets, also cut: only the cluster can open it. */
export function isSealed(text: string, { start, end }: Stretch): boolean {
  const value = text.slice(start, end);
  if (!/^[A-Za-z0-9+/]{40,}(?:={0,2}|\.{3}|…)$/.test(value)) return false;
  // What only is encoded is not sealed.
  if (/^[\x20-\x7e\s]*$/.test(Buffer.from(value, 'base64').toString('latin1'))) return false;
  const before = text.slice(Math.max(0, start - MAX_SEALED), start);
  const at = before.lastIndexOf('encryptedData');
  if (value.startsWith('Ag')) {
    if (SEALED.test(before) || SEALED.test(text.slice(end, end + MAX_BEHIND))) return true;
  }
  return at >= 0 && IN_SEALED_BLOCK.test(before.slice(at).replaceAll('\\n', '\n'));
}
