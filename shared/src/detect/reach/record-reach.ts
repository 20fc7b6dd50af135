/** What an object among the arguments does as a whole, whatever its members are read as. */
import type { ArgumentName } from './arguments/argument-kinds.ts';
import type { CallScope } from './call-scope.ts';
import { findClusterReach, findNamespaceReach } from './cluster-namespace.ts';
import { DELETES_A_STORE } from './deleted-store.ts';
import { changesAllByGraphQl, deletesStoreByGraphQl } from './queries/graphql-mutation.ts';
import { findMongoCommand } from './queries/mongo-command.ts';
import { EVERYTHING } from './queries/mongo-reach.ts';
import type { WholeReach } from './reach-finding.ts';

/** @param of the argument that it is */
export function findRecordReach(
  record: Readonly<Record<string, unknown>>,
  { call, tool }: CallScope,
  of: ArgumentName | undefined,
): WholeReach[] {
  const isCommand = tool.isDatabase || tool.isSql || of?.kind === 'command' || of?.kind === 'sql';
  const found: WholeReach[] = [];
  const mongo = findMongoCommand(record, isCommand);
  if (mongo) found.push(mongo);
  if (changesAllByGraphQl(record)) found.push(EVERYTHING);
  if (deletesStoreByGraphQl(record)) found.push(DELETES_A_STORE);
  if (call.action === 'read') return found;
  const cluster =
    (record === call.args && findNamespaceReach(tool.words, call)) ||
    (tool.isCluster && findClusterReach(record, call.args));
  if (cluster) found.push(cluster);
  return found;
}
