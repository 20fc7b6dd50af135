/**
 * Covers the gateway's own credential in what a server says. A server that repeats what it was sent
 * (in an error, or as a tool that shows its request) would hand the agent the secret that takes it
 * past the gateway. This covers what is repeated as it was sent, and no more: a server that means
 * to give its secret away can write it in other letters. Proven by credential-cover.test.ts.
 */

/** Shorter ones are words that may stand anywhere. */
const LEAST_LENGTH = 12;
const COVERED = '[REDACTED:upstream_credential]';
/** `Bearer`, `Basic` and the like: what follows is the secret. */
const SCHEME = /^[A-Za-z][A-Za-z0-9-]* +(?=\S+$)/;

/** The message of a server with the credential covered. */
export type CredentialCover = (text: string) => string;

/**
 * @param header the credential's name and value; null where there is none
 * @param onCovered called for each message in which it stood
 * @returns undefined where there is nothing to cover
 */
export function createCredentialCover(
  header: readonly [name: string, value: string] | null,
  onCovered: () => void,
): CredentialCover | undefined {
  const secret = header?.[1].replace(SCHEME, '') ?? '';
  if (secret.length < LEAST_LENGTH) return undefined;
  const inJson = JSON.stringify(secret).slice(1, -1);
  // Some write `/` in JSON as `\/`.
  const forms = [...new Set([inJson, inJson.replaceAll('/', '\\/')])];
  return (text) => {
    const found = forms.filter((form) => text.includes(form));
    if (found.length === 0) return text;
    onCovered();
    return found.reduce((covered, form) => covered.replaceAll(form, COVERED), text);
  };
}
