/** The words of a list that is written as one text, with blanks between them. */
export const wordSet = (words: string): ReadonlySet<string> => new Set(words.split(' '));
