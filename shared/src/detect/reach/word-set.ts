/** The words of a list that is written as one text, separated by blanks. */
export const wordSet = (words: string): ReadonlySet<string> => new Set(words.split(' '));
