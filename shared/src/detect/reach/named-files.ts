/** Files that a tool writes whose names are given as no path: `files: {'.env': …}`. */
import { type ArgumentName, isPathForm } from './arguments/argument-kinds.ts';
import type { CallScope } from './call-scope.ts';
import type { TouchedPath } from './reach-finding.ts';
import { wordSet } from './word-set.ts';

type Member = Readonly<Record<string, unknown>>;

/** Words of tools that write files, also at a server for code. */
const WRITES = wordSet(
  'gist gists snippet snippets write push create save update commit put upload add store edit generate scaffold',
);
const FILES = wordSet('file files');
const FILE_NAMES = ['file_name', 'fileName'];
const CONTENTS = ['content', 'contents', 'text', 'body', 'data', 'code', 'encoding'];
const FOLDERS = ['directory', 'dir', 'folder', 'folder_path', 'folderPath'];

const textAmong = (record: Member, keys: readonly string[]): string | undefined =>
  keys.map((key) => record[key]).find((one) => typeof one === 'string');

/** @param of the argument that the object is, or is an item of */
export function findNamedFiles(
  record: Member,
  of: ArgumentName | undefined,
  { call, tool }: CallScope,
): Omit<TouchedPath, 'place'>[] {
  if (call.action === 'read' || call.action === 'delete' || tool.isSend || tool.isChat) return [];
  if (!tool.words.some((word) => WRITES.has(word))) return [];
  const isOfFiles = FILES.has(of?.last ?? '');
  const hasContent = CONTENTS.some((key) => key in record);
  const folder = textAmong(record, FOLDERS) ?? textAmong(call.args, FOLDERS);
  const found: string[] = [];
  const add = (name: unknown) => {
    if (typeof name === 'string') found.push(name);
  };
  add(textAmong(record, FILE_NAMES));
  // Without a folder, `filename` is read as a path like others.
  if (folder !== undefined) add(record.filename);
  if (isOfFiles || (hasContent && folder !== undefined)) add(record.name);
  if (found.length === 0 && isOfFiles && !hasContent && !('path' in record)) {
    for (const key of Object.keys(record)) if (!isPathForm(key)) found.push(key);
  }
  return found.map((text) => ({
    text,
    use: 'write',
    ...(folder !== undefined && { base: folder }),
  }));
}
