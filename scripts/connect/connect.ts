/**
 * Merges this service's entry into a client's configuration. Everything that can fail without the
 * token is tried before the token is used, since it is valid only once.
 */
import { dirname } from 'node:path';
import { basicAuthorization } from '@governance/shared/http/basic-credentials';
import { type ClientEntry, clientEntry } from '@governance/shared/mcp/mcp-clients';
import { type ClientFormat, clientFile, FORMATS, type Machine } from './client-files.ts';
import {
  type ConfigFile,
  prepareFolder,
  readConfigFile,
  replaceConfigFile,
  restoreBackup,
  rewriteConfigFile,
} from './config-file.ts';
import { ConfigTextError } from './config-text-error.ts';
import { hasJsonEntry, removeJsonEntry, setJsonEntry } from './json-entry.ts';
import { type ConnectOptions, readOptions, USAGE } from './options.ts';
import { type Fetch, findGateway, redeemToken } from './service.ts';
import { hasTomlEntry, removeTomlEntry, setTomlEntry } from './toml-entry.ts';

export interface ConnectDeps {
  machine: Machine;
  /** Shown to the person; never a secret. */
  print(text: string): void;
  readToken(): Promise<string>;
  fetch: Fetch;
}

/** Shown in place of the credential. */
const HIDDEN = 'Basic <credential>';

/** @throws Error with a message for the person, which never contains a secret */
export async function connect(args: readonly string[], deps: ConnectDeps): Promise<void> {
  const options = readOptions(args);
  if (options === 'help') {
    deps.print(USAGE);
    return;
  }
  const { client, file: other, action, name } = options;
  const place = other ? { path: other, root: dirname(other) } : clientFile(client, deps.machine);
  const file = await readConfigFile(place);
  const texts = textsOf(FORMATS[client], name, file);
  if (action === 'undo') await undo(file, texts, name, deps);
  else await add(file, texts, options, deps);
}

type Texts = ReturnType<typeof textsOf>;

/** The entry in the text of a file, in the client's own format. */
function textsOf(
  { kind, section, dialect }: ClientFormat,
  name: string,
  { path, text }: ConfigFile,
) {
  const now = text ?? '';
  const named = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof ConfigTextError)) throw error;
      throw new Error(`${path}, ${error.message}. Nothing was changed.`);
    }
  };
  return kind === 'json'
    ? {
        has: () => named(() => hasJsonEntry(now, section, name, dialect)),
        with: (entry: ClientEntry) => named(() => setJsonEntry(now, section, name, entry, dialect)),
        without: () => named(() => removeJsonEntry(now, section, name, dialect)),
      }
    : {
        has: () => named(() => hasTomlEntry(now, section, name)),
        with: (entry: ClientEntry) => named(() => setTomlEntry(now, section, name, entry)),
        without: () => named(() => removeTomlEntry(now, section, name)),
      };
}

async function add(
  file: ConfigFile,
  texts: Texts,
  options: ConnectOptions,
  { print, readToken, fetch }: ConnectDeps,
): Promise<void> {
  const { client, url, name, replace, action } = options;
  const isThere = texts.has();
  if (isThere && !replace) {
    throw new Error(`${file.path} has an entry ${name}: choose another --name, or --replace it.`);
  }
  const gateway = options.gateway ?? (await findGateway(url, fetch));
  const hidden = clientEntry(client, { url: gateway, authorization: HIDDEN });
  // A trial merge: anything that cannot be written is found before the token is used.
  texts.with(hidden);
  if (action === 'show') {
    const does =
      file.text === null ? 'made' : isThere ? 'changed (the entry is replaced)' : 'changed';
    print(
      `${file.path} would be ${does}. The entry ${name}:\n${JSON.stringify(hidden, null, 2)}\n`,
    );
    return;
  }
  await prepareFolder(file);
  const credential = await redeemToken(url, await readToken(), client, fetch);
  const { clientId, clientSecret, agentName } = credential;
  const authorization = basicAuthorization(clientId, clientSecret);
  const text = texts.with(clientEntry(client, { url: gateway, authorization }));
  const backup = await replaceConfigFile(file, text, name).catch((error: Error) => {
    // The token is used up and nobody has the secret, so the credential is useless.
    throw new Error(`${error.message} Ask for a new token, and to revoke ${clientId}.`);
  });
  print(`${client} is connected as ${agentName}: entry ${name} in ${file.path}, ${clientId}.\n`);
  if (backup !== null) print(`What the file was is in ${backup}.\n`);
  if ((file.mode & 0o077) !== 0) {
    print(`Others on this machine may read the credential: chmod 600 ${file.path}\n`);
  }
  print('Restart the client. --undo takes this back.\n');
}

async function undo(
  file: ConfigFile,
  texts: Texts,
  name: string,
  { print }: Pick<ConnectDeps, 'print'>,
): Promise<void> {
  const { path } = file;
  if (await restoreBackup(file, name)) {
    print(`${path} is as it was before the last run.\n`);
  } else {
    if (!texts.has()) throw new Error(`${path} has no entry ${name}: there is nothing to undo.`);
    await rewriteConfigFile(file, texts.without());
    print(`${path} has changed since: the entry ${name} was taken out, and the rest stays.\n`);
  }
  print('The credential is still good: ask an administrator to revoke it.\n');
}
