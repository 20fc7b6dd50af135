/** Whether what is assigned to a label for secrets is a secret, or stands for one. */
import type { Link } from '../fields.ts';

/** `password`: people choose the value. `token`: a machine made it. */
export type SecretKind = 'password' | 'token';

// What writers put where the secret goes, and what code and schemas say of a secret.
const WORDS_FOR_NOTHING = new Set(
  `string str text varchar char object int integer bool boolean number any array list type enum
  required optional true false null nil none undefined void empty unset blank default value values
  field input param parameter hidden masked redacted removed filtered protected encrypted hashed
  bcrypt argon2 plaintext secure secret secrets password passwords passwd pwd passphrase token tokens
  key keys apikey credential credentials user username login email name reset forgot forgotten change
  changed changeme change_me strong weak min max length confirm confirmed invalid incorrect wrong
  expired expires missing valid correct here below above following same this that your my the not
  stored saved sent known unknown available needed rotated generated provided set used shared leaked
  visible policy policies manager field_name example sample placeholder todo tbd fixme n/a na yes no
  basic bearer digest oauth oauth2 jwt header cookie cookies query body env environment config
  passwort kennwort contraseña clave senha wachtwoord hasło hasla пароль пароля 密码 パスワード
  mot motdepasse obligatoire requis erforderlich obligatorio requerido pflichtfeld vergessen oublié
  olvidada rather only always never also currently already too more longer at least case sensitive`.split(
    /\s+/,
  ),
);

const PLACEHOLDER =
  /^(?:[x*•·.#_\-?0]{3,}|\$\{.*|\$\(.*|\$[A-Z_][A-Z0-9_]*|\{\{.*|\{[a-z_. ]+\}?|%[A-Z_]+%|%\(?[a-z]+\)?s?|<.*|\[[A-Za-z _-]*\]?|@[a-z.]+@|#\{.*|__.*__|!(?:vault|secret|ref|sub|env|file).*|(?:vault|op|ref\+\w+|secretref|ssm|keyring|file|env|aws-sm|gcp-sm|keyvault):.*|arn:aws.*|enc\[.*|\/run\/secrets.*|\/etc\/.*|\.\/.*|~\/.*)$/i;
const PLACEHOLDER_WORDS =
  /your[_\- ]?|^my[_-](?:secret|pass|token|key|api)|[_\- ]here\b|example|placeholder|changeme|change[_-]me|replace[_-]?|insert[_-]|redacted|xxxx|\.\.\.|…|todo\b|dummy|<[a-z]|\*\*\*|sample|goes[_-]|to[_-]be[_-]|fill[_-]|put[_-]|enter[_-]|abcdefgh?$|^(?:foo|bar|baz|test|abc|none)$|not[_-]a[_-]real|n[o0]t[_-]?real|fake/i;
const CODE =
  /^(?:process\.env|os\.(?:environ|getenv)|env[.[(]|secrets?[.[(]|vault[.[]|config[.[(]|settings[.[(]|self\.|this\.|req(?:uest)?\.|res(?:ponse)?\.|data[.[]|ctx\.|args?\.|params?[.[]|props\.|state\.|form\.|body\.|input\(|var\.|local\.|module\.|(?:await|new|func|def|lambda|function|return|import|props|env)\b|get[A-Z_]\w*|System\.|Deno\.|import\.|ENV\[|Rails\.|crypto\.|(?:generate|random|hash|bcrypt|encrypt|decrypt)\w*[.(]|\(|\[|\{|[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*\(.*\))/;

// Versions, algorithms, routes, types: what tables, manifests and manuals have beside such a label.
const NAMED =
  /^(?:[~^<>=v]{0,2}\d+(?:\.\d+){1,3}(?:[-+][a-z]+[\w.]*)?(?: <[=\d.]+)?|(?:aes|chacha20|sha|hmac|rsa|ecdsa|ecdh|ed25519|argon2|scrypt|pbkdf2|hs|rs|es|ps)-?(?:\d{2,4}|i?d?)(?:-[a-z\d]{2,9}){0,2}|(?:\/[a-z{][\w{}-]*){2,}|\w+\[\]|function|application)$/i;
/** A call or a literal that an expression goes on with: `decode(this.password`, `&Credentials{`. */
const OPENS = /^&?[A-Za-z_$.]{4,}[({]/;

// Chosen again and again; letters only, so that nothing else tells them from words.
const WEAK = new Set(
  `letmein welcome sunshine dragon monkey football baseball iloveyou princess superman batman trustno
  shadow master qwerty qwertz azerty asdfgh asdfghjkl zxcvbn hunter freedom whatever starwars computer
  michael jordan charlie jennifer hello access flower ginger pepper summer winter spring autumn cheese
  liverpool arsenal chelsea barcelona admin administrator root toor guest passw0rd schatz sommer
  hallo berlin hamburg bonjour soleil chouchou doudou azertyuiop teamo mariposa estrella corazon`.split(
    /\s+/,
  ),
);

/** Whether a text only stands where a secret would be. */
export function isPlaceholder(value: string): boolean {
  return PLACEHOLDER.test(value) || PLACEHOLDER_WORDS.test(value) || isMonotonous(value);
}

/** Few different characters for the length: `xxxxxxxx`, `00000000`, `abababab`. */
export function isMonotonous(value: string): boolean {
  const different = new Set(value.toLowerCase()).size;
  return value.length >= 6 && different <= Math.min(3, value.length / 3);
}

/** Shannon's entropy in bits a character. */
export function entropy(value: string): number {
  const counts = new Map<string, number>();
  for (const character of value) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values())
    bits -= (count / value.length) * Math.log2(count / value.length);
  return bits;
}

const has = (value: string) => ({
  digit: /\d/.test(value),
  lower: /\p{Ll}/u.test(value),
  upper: /\p{Lu}/u.test(value),
  letter: /\p{L}/u.test(value),
  sign: /[^\p{L}\d\s]/u.test(value),
});

/**
 * @param value at most some hundred characters
 * @param link how the value belongs to its label: the less surely, the more it must look like one
 */
export function isSecretValue(
  value: string,
  kind: SecretKind,
  link: Link,
  quoted: boolean,
  after = '',
): boolean {
  if (value.length < 4 || isPlaceholder(value)) return false;
  const lower = value.toLowerCase();
  if (WORDS_FOR_NOTHING.has(lower.replace(/[.,;:!?]+$/, ''))) return false;
  if (NAMED.test(value) || /`/.test(value)) return false;
  if (!quoted && OPENS.test(value)) return false;
  if (!quoted && (CODE.test(value) || after.startsWith('('))) return false;
  if (CODE.test(value) && /^(?:process\.env|os\.(?:environ|getenv)|System\.)/.test(value))
    return false;
  if (/^[A-Z][A-Z_]*$/.test(value) && value.includes('_')) return false;
  if (/^(?:https?|file|ftp):\/\//i.test(value)) return false;
  if (
    !quoted &&
    /^[A-Za-z_][\w$]*(?:\.[A-Za-z_][\w$]*)+(?:\(.*|\[.*)?$/.test(value) &&
    !/\d/.test(value)
  ) {
    return false;
  }
  if (/^\$2[aby]\$\d\d\$|^\$argon2|^\$[156]\$|^pbkdf2/.test(value)) return false;
  return kind === 'password' ? isPassword(value, link, quoted) : isToken(value, link);
}

function isPassword(value: string, link: Link, quoted: boolean): boolean {
  if (/\s/.test(value)) return quoted && isPassphrase(value);
  const { digit, lower, upper, letter, sign } = has(value);
  const mixed =
    (digit && letter) || (sign && (digit || (lower && upper) || /[!@#$%^&*+=?]/.test(value)));
  if (link === 'prose' || link === 'adjacent') {
    // The next attribute or assignment, not a value.
    if (/^[\w.:-]+=/.test(value)) return false;
    if (/^\d+$/.test(value)) return link === 'prose' && value.length >= 4 && value.length <= 12;
    if (/^\d+(?:st|nd|rd|th|px|em|ms|kb|mb|gb|bit|chars?|days?|min|h|s|%)$/i.test(value))
      return false;
    if (quoted) return mixed || (value.length >= 6 && !isLabelLike(value));
    if (lower && upper && isScrambled(value)) return true;
    return (mixed && /[\p{L}]/u.test(value) && !isWordLike(value)) || WEAK.has(value.toLowerCase());
  }
  if (mixed) return !isWordLike(value) || (digit && letter);
  if (/^\d+$/.test(value)) return value.length >= 4 && value.length <= 20 && link !== 'column';
  // A phrase of words: correct-horse-battery.
  if (/^\p{Ll}{3,12}(?:[-_.]\p{Ll}{3,12}){2,7}$/u.test(value)) {
    return value.length >= 16 && value.includes('-') && !isLabelLike(value);
  }
  if (sign) return value.length >= 8 && !isLabelLike(value) && !isWordLike(value);
  if (WEAK.has(value.toLowerCase())) return true;
  if (upper && lower && !/^\p{Lu}\p{Ll}+$/u.test(value))
    return value.length >= 8 && !isLabelLike(value);
  return quoted && link === 'assigned' && value.length >= 6 && !isLabelLike(value);
}

/** Words of a sentence with signs in them: don't, e-mail, and/or, user's, foo_bar. */
function isWordLike(value: string): boolean {
  return /^\p{L}+(?:['’\-/_.]\p{L}+)+[.,;:!?]*$/u.test(value) || /^\p{L}+[.,;:!?)]*$/u.test(value);
}

/** Code that names a secret instead of holding one, in the languages of the labels. */
function isLabelLike(value: string): boolean {
  return /pass|pwd|secret|token|key|cred|login|user|wort|contras|clave|senha|hasł|парол|field|input|value|encrypt|hash|required|invalid|must|enter|confirm|forgot/i.test(
    value,
  );
}

const SENTENCE =
  /\b(?:the|your|is|are|was|a|an|must|should|please|to|and|or|of|for|in|with|be|not|can|will|at|least|enter|ihr|das|der|die|und|ist|muss|bitte|mit|votre|le|la|les|est|doit|su|el|los|debe|por|para|of|my|it|if|has|have|been|does)\b/i;

/** Several words that are not a sentence: "correct horse battery staple". */
function isPassphrase(value: string): boolean {
  const words = value.trim().split(/\s+/);
  if (words.length > 10 || SENTENCE.test(value) || isLabelLike(value)) return false;
  return (
    /\d|[^\p{L}\s.,'’-]/u.test(value) ||
    (words.length >= 3 && words.every((word) => word.length >= 3))
  );
}

// Words that a sentence about a password has, in place of the password.
const SAID_OF_ONE =
  /(?:^|[ -])(?:that|this|with|from|have|will|when|then|than|your|them|they|there|here|what|which|only|also|into|over|after|before|once|each|must|should|could|would|been|were|does|using|used|via|same|choose|chosen|random|words?|characters?|letters?|digits?|numbers?|stored|kept|saved|sent|share[ds]?|known|team|admins?|asks?|vault|manager|contact|support|please|never|always|default|changed?|rotated?|rotation|generated?|provided?|expire[ds]?|valid|wrong|correct|missing|empty|four|three|five|minimum|least|most|more|long(?:er)?|short(?:er)?|policy|rules?|required?|optional|hidden|reset|email|account|server|database|production|staging|above|below|written|read|found|given|needs?|make|sure|like|about|during|without|because|unless|until|while|nicht|werden|wurde|eine[rsnm]?|avec|pour|dans|para|como|esta|sono|della)(?:$|[ -])/;

/** Four words or more that belong to no sentence: "copper lantern drizzle harbor". */
export function isUnrelatedWords(phrase: string): boolean {
  return !SAID_OF_ONE.test(phrase) && !SENTENCE.test(phrase) && !isLabelLike(phrase);
}

function isToken(value: string, link: Link): boolean {
  if (/\s/.test(value)) return false;
  const { digit, lower, upper, letter, sign } = has(value);
  if (!letter) return false;
  const sure = link === 'assigned' || link === 'column';
  if (value.length < (sure ? 8 : 10)) return false;
  const bits = entropy(value);
  if (isScrambled(value) && value.length >= 16 && bits >= 3.5) return true;
  if (isWordLike(value)) return false;
  if (digit) return bits >= (value.length >= 16 ? 2.8 : 2.5);
  if (isLabelLike(value)) return false;
  if (lower && upper) return value.length >= 16 && bits >= 3.5 && sure && !isCamelCase(value);
  return sign && sure && value.length >= 12 && bits >= 3 && !/^[\w.\-/:]+$/.test(value);
}

function isCamelCase(value: string): boolean {
  return /^[A-Za-z]?[a-z]+(?:[A-Z]{1,3}[a-z]{2,})+$/.test(value);
}

/** Letters whose cases change as no name does. */
function isScrambled(value: string): boolean {
  return (
    /^[A-Za-z]{8,64}$/.test(value) &&
    (value.match(/[a-z][A-Z]/g)?.length ?? 0) >= 2 &&
    !isCamelCase(value) &&
    !isLabelLike(value)
  );
}
