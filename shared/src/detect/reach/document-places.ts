/**
 * Places within a document that a call names beside it: `key_path: 'db.host'`. An `ssh` tool's
 * `key_path` is a file, so the names, what they say, the document and the tool have to agree.
 */
import type { ArgumentName } from './arguments/argument-kinds.ts';
import { wordSet } from './word-set.ts';

const PLACES = wordSet('path paths');
/** Words before it. A `config_path` is a file, and so is a `node_path`. */
const OF_PLACES = wordSet(
  'key json yaml yml toml xml ini property prop field value element attribute attr jq dotted',
);
const AS_ONE = wordSet('keypath jsonpath yamlpath tomlpath jmespath jqpath propertypath');
/** Places that are written with slashes. */
const SLASHED = wordSet('pointer jsonpointer xpath');

/** Words of tools that change values. */
const OF_VALUES = wordSet(
  'data json yaml yml toml xml ini config configuration settings property properties value values field fields',
);
const OF_FILES = wordSet('file files path paths folder folders dir directory directories');

const DOCUMENT = /[^./\\]\.(?:jsonc?|json5|ya?ml|toml|xml|ini|cfg|conf|properties|plist)$/i;
/**
 * A name that begins with a dot may be a hidden file, one with a dollar a variable (unless it is
 * JSONPath's root), and a wildcard reaches far.
 */
const KEYS = /^(?:\$(?=[.[])\.?)?[\w@[][\w@.[\]'"-]*$/;
const POINTER = /^\/[\w@[](?:[\w@.[\]'"=/-]|~[01])*$/;
/** Endings of files: what has one counts as a file, although a key may have it, too. */
const FILES = wordSet(
  'pem key env crt cer pfx p12 pub keystore txt md csv tsv json jsonc json5 yaml yml toml xml ini cfg conf properties plist lock log sh bash zsh bat ps1 py js ts jsx tsx mjs cjs rb go rs cpp java php html htm css sql db sqlite zip tar gz tgz bz2 xz 7z doc docx xls xlsx ppt pptx pdf png jpg jpeg gif svg bak backup tmp old orig service exe dll so',
);
const MAX_PLACE = 500;

/** Whether an argument names a document that has places within it. */
export function isDocument(name: ArgumentName, value: unknown): boolean {
  return (
    name.kind === 'path' && !isPlaceName(name) && typeof value === 'string' && DOCUMENT.test(value)
  );
}

/**
 * Whether what an argument names lies within the document that the call names.
 *
 * @param tool the words of its name
 */
export function isWithinDocument(
  name: ArgumentName,
  text: string,
  tool: readonly string[],
): boolean {
  if (!tool.some((word) => OF_VALUES.has(word)) || tool.some((word) => OF_FILES.has(word)))
    return false;
  if (text.length > MAX_PLACE || text.includes('..') || hasEnding(text)) return false;
  return isSlashed(name)
    ? KEYS.test(text) || POINTER.test(text)
    : isPlaceName(name) && KEYS.test(text);
}

const hasEnding = (text: string): boolean =>
  text.includes('.') && FILES.has(text.slice(text.lastIndexOf('.') + 1).toLowerCase());

const isSlashed = ({ last }: ArgumentName): boolean => SLASHED.has(last);

function isPlaceName(name: ArgumentName): boolean {
  const { words, last } = name;
  if (isSlashed(name) || AS_ONE.has(last)) return true;
  return PLACES.has(last) && OF_PLACES.has(words.at(-2) ?? '');
}
