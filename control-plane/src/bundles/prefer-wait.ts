/**
 * Reads how long a client of OPA's bundle protocol wants to wait, from `Prefer`: OPA sends
 * `modes=snapshot,delta;wait=30`, RFC 7240 would have `wait=30, modes=...`; both are accepted.
 *
 * @param header caller-controlled
 * @returns seconds; 0 if absent or malformed
 */
export function preferredWaitSeconds(header: string | undefined): number {
  for (const preference of (header ?? '').split(/[;,]/)) {
    const wait = /^\s*wait\s*=\s*"?(\d{1,6})"?\s*$/i.exec(preference)?.[1];
    if (wait !== undefined) return Number(wait);
  }
  return 0;
}

/**
 * Whether `If-None-Match` names this entity tag (RFC 9110 section 13.1.2, weak comparison). OPA
 * sends a list while it remembers superseded tags.
 *
 * @param header caller-controlled
 * @param tag without quotes
 */
export function namesEntityTag(header: string | undefined, tag: string): boolean {
  return (header ?? '').split(',').some((candidate) => {
    const name = candidate
      .trim()
      .replace(/^W\//, '')
      .replace(/^"(.*)"$/, '$1');
    return name === tag || name === '*';
  });
}
