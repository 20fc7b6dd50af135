/**
 * The verbs of tools' names, as an identifier's parts are hashed (passages.ts): a text that names a
 * tool (`delete_user`, `gmail.send_draft`) asks for more than one that names a field.
 */
import { VERB_WORDS } from '../../mcp/tool-words.ts';
import { KIND_OF } from './characters.ts';
import { mix } from './tokens.ts';

const hashOf = (word: string): number =>
  Array.from(word).reduce((hash, letter) => mix(hash, KIND_OF[letter.charCodeAt(0)] as number), 0);

const VERBS = new Set([...VERB_WORDS.keys()].map(hashOf));

/** @param hash of a part of an identifier */
export const isToolVerb = (hash: number): boolean => VERBS.has(hash);
