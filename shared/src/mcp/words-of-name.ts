/**
 * The words of a name in lower case, in any spelling: snake_case, kebab-case, dotted, camelCase,
 * runs of capitals (`HTTPDelete`), with digits between. Accents and other forms of the same letters
 * make no difference, nor do invisible characters.
 */
export function wordsOfName(name: string): string[] {
  return name
    .normalize('NFKD')
    .replace(/[\p{M}\p{Default_Ignorable_Code_Point}]/gu, '')
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}]+/u)
    .filter((word) => word !== '');
}
