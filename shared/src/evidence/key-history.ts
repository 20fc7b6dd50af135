/**
 * The history of the bundle and feed keys for a data plane: each key with its time, and the
 * statements that link them. It comes with the answer to a registration and by the feed. An older
 * data plane ignores it and takes the keys that registration names.
 */
import { z } from 'zod';
import { KeyEntry, SignedRotation } from './evidence-keys.ts';

/** For all purposes together. */
export const MAX_HISTORY_KEYS = 1_000;

export const KeyHistory = z.strictObject({
  keys: z.array(KeyEntry).max(MAX_HISTORY_KEYS),
  rotations: z.array(SignedRotation).max(MAX_HISTORY_KEYS),
});
export type KeyHistory = z.infer<typeof KeyHistory>;
