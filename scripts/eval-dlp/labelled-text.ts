import { z } from 'zod';

/** One line of a set: a text, and whether it contains something that must be found. */
export const LabelledText = z.object({
  text: z.string(),
  kind: z.enum(['positive', 'negative']),
  category: z.string().default('unnamed'),
});
export type LabelledText = z.infer<typeof LabelledText>;
