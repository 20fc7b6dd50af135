import { hash, verify } from '@node-rs/argon2';

/** argon2id with OWASP's parameters: 19 MiB, two passes, one lane. */
export function hashPassword(password: string): Promise<string> {
  return hash(password, { memoryCost: 19_456, timeCost: 2, parallelism: 1 });
}

export async function isPassword(passwordHash: string, password: string): Promise<boolean> {
  try {
    return await verify(passwordHash, password);
  } catch {
    // An unreadable hash matches no password.
    return false;
  }
}

/** The hash of a random password, so that unknown users cost the same work as known ones. */
export function makeDecoyHash(): Promise<string> {
  return hashPassword(crypto.randomUUID());
}
