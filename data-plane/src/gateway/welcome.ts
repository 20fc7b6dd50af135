import type { Caller } from './caller.ts';
import type { Guard } from './guard.ts';

/** For a stream, which outlives its request: suspended, rotated or expired meanwhile? */
export function isStillWelcome(
  { credential, serverId }: Caller,
  guard: Pick<Guard, 'findBar' | 'identify'>,
): boolean {
  const identity = guard.identify(credential, serverId);
  // At once, since the replica had caught up with the token when the stream began.
  if (identity instanceof Promise || 'kind' in identity || identity.bar) return false;
  return guard.findBar(identity.tenantId, identity.agent) === undefined;
}
