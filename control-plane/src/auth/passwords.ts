import { hash, verify } from '@node-rs/argon2';

/**
 * argon2id with OWASP's parameters: 19 MiB, two passes, one lane. Keyboards write one character in
 * several forms of Unicode; the hash is of NFC, so that a password is right from each of them.
 */
export function hashPassword(password: string): Promise<string> {
  return hash(password.normalize('NFC'), { memoryCost: 19_456, timeCost: 2, parallelism: 1 });
}

/** The work depends on the password that was given, and not on whether its user is known. */
export async function isPassword(passwordHash: string, password: string): Promise<boolean> {
  const normal = password.normalize('NFC');
  try {
    if (await verify(passwordHash, normal)) return true;
    // Earlier versions hashed the text as it was given.
    return password !== normal && (await verify(passwordHash, password));
  } catch {
    // An unreadable hash matches no password.
    return false;
  }
}

/** The hash of a random password, so that unknown users cost the same work as known ones. */
export function makeDecoyHash(): Promise<string> {
  return hashPassword(crypto.randomUUID());
}
