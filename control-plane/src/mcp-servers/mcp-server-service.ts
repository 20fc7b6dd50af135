/**
 * The registry of MCP servers. A change is published in the bundle's settings (the WebAssembly is
 * reused), and a credential is sealed and sent in the feed. The request is answered once both are
 * applied.
 */
import type { AppliedBarrier } from '@governance/shared/channel/channels';
import { AppError } from '@governance/shared/errors';
import { uuidv7 } from '@governance/shared/ids';
import type { BundleBuilder } from '../bundles/bundle-builder.ts';
import type { AttestedPlanes, FindTargets } from '../data-planes/attested-planes.ts';
import {
  listTargets,
  lockSealedFacts,
  type SealedFactTurns,
  takeBackFromOthers,
} from '../data-planes/sealed-facts.ts';
import { formerValues } from '../platform/admin-details.ts';
import { isUniqueViolation } from '../platform/database/database.ts';
import {
  type AdminAction,
  systemScope,
  type TenantDatabase,
  type TenantScope,
  type TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import type { SealingTarget } from '../platform/feature.ts';
import type { MasterKey } from '../platform/keys/master-key.ts';
import { decryptCredential, encryptCredential } from './credential-at-rest.ts';
import { appendCredential, removeCredential } from './credential-sealing.ts';
import {
  isSameOrigin,
  type McpServer,
  type ServerWithCredential,
  toSetting,
} from './mcp-server.ts';
import { actionsOf, type NewServerBody, type ServerPatchBody } from './mcp-server-schemas.ts';
import { mcpServerStore, type StoredServer } from './mcp-server-store.ts';
import { retireServerId, reuseServerId } from './retired-servers.ts';

/** Servers of one tenant; all are in its bundle. */
export const MAX_SERVERS = 500;

/** Tools with `tool_actions`, of all a tenant's servers; all are in its bundle too. */
export const MAX_TOOL_ACTIONS_OF_TENANT = 5_000;

export interface McpServerServiceDeps {
  db: Pick<TenantDatabase, 'inTenant' | 'inTenantWithHeads'>;
  masterKey: MasterKey;
  bundles: Pick<BundleBuilder, 'requestBuild'>;
  applied: AppliedBarrier;
  sealedFactTurns: SealedFactTurns;
  prepareTargets: AttestedPlanes['prepareTargets'];
  /** Standalone: the stdio servers that a tenant may use at the local data plane. */
  listStdioNames?: ((tenantId: string) => readonly string[] | undefined) | undefined;
  /** Ends what other features keep about a server, in the transaction that deletes it. */
  endWithServer(tx: TenantTransaction, serverId: string, at: Date): Promise<void>;
  now(): Date;
}

export interface McpServerService {
  list(scope: TenantScope): Promise<ServerWithCredential[]>;
  get(scope: TenantScope, serverId: string): Promise<ServerWithCredential>;
  create(scope: TenantScope, body: NewServerBody): Promise<ServerWithCredential>;
  change(
    scope: TenantScope,
    serverId: string,
    body: ServerPatchBody,
  ): Promise<ServerWithCredential>;
  delete(scope: TenantScope, serverId: string): Promise<void>;
  /** Seals the tenant's credentials for a data plane, in the transaction that registers it. */
  sealCredentialsFor(tx: TenantTransaction, target: SealingTarget): Promise<void>;
  /**
   * Removes the sealed credentials of revoked and forked data planes from the feed, after the
   * revocation is committed, so that their number does not delay it.
   */
  takeBackCredentials(tenantId: string): Promise<void>;
}

/** Entries written in one transaction. */
const TAKEN_BACK_AT_ONCE = 2_000;

/** The settings of the servers that data planes may use, which are the enabled ones. */
export async function readServerSettings(tx: TenantTransaction) {
  const servers = await mcpServerStore(tx).list();
  return Object.fromEntries(
    servers
      .filter(({ server }) => server.enabled)
      .map(({ server, ciphertext }) => [server.serverId, toSetting(server, ciphertext !== null)]),
  );
}

/** The ids of all registered servers. */
export async function readServerIds(tx: TenantTransaction): Promise<string[]> {
  return (await mcpServerStore(tx).list()).map(({ server }) => server.serverId);
}

export function createMcpServerService(deps: McpServerServiceDeps): McpServerService {
  const { db } = deps;

  const decrypt = (tx: TenantTransaction, { server, ciphertext }: StoredServer) => ({
    server,
    credential: ciphertext && decryptCredential(deps.masterKey, rowOf(tx, server), ciphertext),
  });

  const encrypt = (
    tx: TenantTransaction,
    { server, credential }: ServerWithCredential,
  ): StoredServer => ({
    server,
    ciphertext: credential && encryptCredential(deps.masterKey, rowOf(tx, server), credential),
  });

  /** Commits a change, builds the bundle and returns when both channels are applied. */
  async function commit<T>(
    scope: TenantScope,
    work: (tx: TenantTransaction, findTargets: FindTargets) => Promise<T>,
  ): Promise<T> {
    const findTargets = await deps.prepareTargets();
    const { result, feedSeq } = await deps.sealedFactTurns.run(scope.tenantId, () =>
      db.inTenantWithHeads(scope, (tx) => work(tx, findTargets)),
    );
    const built = await deps.bundles.requestBuild(scope.tenantId);
    const newest = Math.max(feedSeq ?? 0, built.feedSeq ?? 0);
    await deps.applied.wait(scope.tenantId, {
      bundleRevision: built.revision,
      ...(newest > 0 && { feedSeq: newest }),
    });
    return result;
  }

  /** Sends a credential to every data plane of the tenant; null removes it. */
  async function distribute(
    tx: TenantTransaction,
    { server, credential }: ServerWithCredential,
    findTargets: FindTargets,
  ) {
    if (credential) await appendCredential(tx, server, credential, await findTargets(tx));
    else removeCredential(tx, server.serverId, await listTargets(tx));
  }

  /**
   * Data planes define the names of stdio servers. The names are checked against the local data
   * plane, unless the tenant has another that may define more names. Each data plane checks again
   * at every use.
   *
   * @throws AppError VALIDATION_FAILED for a name that is not open to the tenant
   */
  async function requireUsableName(tx: TenantTransaction, name: string | undefined) {
    if (name === undefined) return;
    const names = deps.listStdioNames?.(tx.scope.tenantId);
    if (names === undefined || names.includes(name)) return;
    if ((await listTargets(tx)).length > 1) return;
    const open = names.length === 0 ? 'none' : names.join(', ');
    const msg = `no stdio server of this name is available to this tenant; available: ${open}`;
    throw invalidField('local_name', msg);
  }

  return {
    list: (scope) =>
      db.inTenant(scope, async (tx) =>
        (await mcpServerStore(tx).list()).map((stored) => decrypt(tx, stored)),
      ),

    get: (scope, serverId) =>
      db.inTenant(scope, async (tx) =>
        decrypt(tx, orNotFound(await mcpServerStore(tx).find(serverId))),
      ),

    create: (scope, body) =>
      commit(scope, async (tx, findTargets) => {
        await lockSealedFacts(tx);
        if (body.transport === 'stdio') await requireUsableName(tx, body.local_name);
        const created = newServer(body, deps.now());
        if ((await mcpServerStore(tx).count()) >= MAX_SERVERS) {
          throw new AppError('MCP_SERVER_LIMIT_REACHED');
        }
        await requireRoomForActions(tx, created, body.tool_actions);
        await mcpServerStore(tx).insert(encrypt(tx, created)).catch(refuseDuplicate);
        const { serverId } = created.server;
        if (await reuseServerId(tx, serverId)) await deps.endWithServer(tx, serverId, deps.now());
        if (created.credential) await distribute(tx, created, findTargets);
        tx.audit.append(
          auditOf('mcp_server_created', created, created.credential && 'set', body.tool_actions),
        );
        return created;
      }),

    change: (scope, serverId, body) =>
      commit(scope, async (tx, findTargets) => {
        await lockSealedFacts(tx);
        const keepsActions = body.tool_actions === undefined;
        const found = await mcpServerStore(tx).findForUpdate(serverId, { keepsActions });
        const before = decrypt(tx, orNotFound(found));
        const after = changedServer(before, body, deps.now());
        await requireUsableName(tx, body.local_name);
        await requireRoomForActions(tx, after, body.tool_actions);
        await mcpServerStore(tx).update(encrypt(tx, after));
        if (body.credential !== undefined) await distribute(tx, after, findTargets);
        tx.audit.append(auditOfChange(before, after, body));
        return after;
      }),

    delete: (scope, serverId) =>
      commit(scope, async (tx) => {
        await lockSealedFacts(tx);
        const found = await mcpServerStore(tx).findForUpdate(serverId, { keepsActions: false });
        const removed = decrypt(tx, orNotFound(found));
        await mcpServerStore(tx).delete(serverId);
        await retireServerId(tx, serverId, deps.now());
        await deps.endWithServer(tx, serverId, deps.now());
        if (removed.credential) removeCredential(tx, serverId, await listTargets(tx));
        tx.audit.append(auditOf('mcp_server_deleted', removed, removed.credential && 'removed'));
      }),

    sealCredentialsFor: async (tx, target) => {
      await lockSealedFacts(tx);
      for (const stored of await mcpServerStore(tx).list()) {
        const { server, credential } = decrypt(tx, stored);
        if (credential) await appendCredential(tx, server, credential, [target]);
      }
    },

    takeBackCredentials: async (tenantId) => {
      for (let taken = TAKEN_BACK_AT_ONCE; taken === TAKEN_BACK_AT_ONCE; ) {
        taken = await deps.sealedFactTurns.run(tenantId, () =>
          db.inTenant(systemScope(tenantId), async (tx) => {
            await lockSealedFacts(tx);
            return takeBackFromOthers(tx, 'upstream_credential', TAKEN_BACK_AT_ONCE);
          }),
        );
      }
    },
  };
}

/**
 * The caller holds `lockSealedFacts`.
 *
 * @throws AppError VALIDATION_FAILED when the tenant would have `tool_actions` for too many tools
 */
async function requireRoomForActions(
  tx: TenantTransaction,
  { server }: ServerWithCredential,
  given: NewServerBody['tool_actions'],
): Promise<void> {
  if (!given) return;
  const used = await mcpServerStore(tx).countActionsOfOthers(server.serverId);
  if (used + Object.keys(given).length <= MAX_TOOL_ACTIONS_OF_TENANT) return;
  const msg = `the tenant's servers may name ${MAX_TOOL_ACTIONS_OF_TENANT} tools together`;
  throw invalidField('tool_actions', msg);
}

function rowOf({ scope }: TenantTransaction, { serverId, url }: McpServer) {
  return { tenantId: scope.tenantId, serverId, url };
}

function orNotFound(stored: StoredServer | undefined): StoredServer {
  if (!stored) throw new AppError('MCP_SERVER_NOT_FOUND');
  return stored;
}

function refuseDuplicate(error: unknown): never {
  if (!isUniqueViolation(error)) throw error;
  throw new AppError('DUPLICATE_NAME', 'Another MCP server has this server_id.', { cause: error });
}

/** New ids, so that the actions apply to the current definitions of the tools. */
function sayActions(actions: NewServerBody['tool_actions'], now: Date): McpServer['toolActions'] {
  return Object.fromEntries(
    Object.entries(actions ?? {}).map(([name, action]) => [
      name,
      { action, set_id: uuidv7(now.getTime()) },
    ]),
  );
}

function newServer(body: NewServerBody, now: Date): ServerWithCredential {
  const { server_id: serverId, enabled } = body;
  const toolActions = sayActions(body.tool_actions, now);
  const base = { serverId, enabled, toolActions, createdAt: now, updatedAt: now };
  if (body.transport === 'stdio') {
    const { transport, local_name: localName } = body;
    return { server: { ...base, transport, url: null, localName }, credential: null };
  }
  const { transport, url } = body;
  return {
    server: { ...base, transport, url, localName: null },
    credential: body.credential ?? null,
  };
}

/**
 * @throws AppError VALIDATION_FAILED for a field that its transport does not have, and for a new
 * origin with the old credential: changing the address must not reveal the secret
 */
function changedServer(
  { server, credential }: ServerWithCredential,
  body: ServerPatchBody,
  now: Date,
): ServerWithCredential {
  const toolActions =
    body.tool_actions === undefined ? server.toolActions : sayActions(body.tool_actions, now);
  const changed = { enabled: body.enabled ?? server.enabled, toolActions, updatedAt: now };
  if (server.transport === 'stdio') {
    refuseFields(body, ['url', 'credential'], 'is not a field of a stdio server');
    const localName = body.local_name ?? server.localName;
    return { server: { ...server, ...changed, localName }, credential: null };
  }
  refuseFields(body, ['local_name'], 'is not a field of a streamable-http server');
  const url = body.url ?? server.url;
  if (credential && body.credential === undefined && !isSameOrigin(server.url, url)) {
    const msg = 'the address moves to another origin: send the credential again, or null';
    throw invalidField('credential', msg);
  }
  return {
    server: { ...server, ...changed, url },
    credential: body.credential === undefined ? credential : body.credential,
  };
}

function refuseFields(body: ServerPatchBody, names: (keyof ServerPatchBody)[], msg: string): void {
  for (const name of names) if (body[name] !== undefined) throw invalidField(name, msg);
}

function invalidField(name: keyof ServerPatchBody, msg: string): AppError {
  const errors = [{ loc: ['body', name], msg, type: 'custom' }];
  return new AppError('VALIDATION_FAILED', `body.${name}: ${msg}`, { errors });
}

function auditOfChange(
  before: ServerWithCredential,
  after: ServerWithCredential,
  { credential, tool_actions: actions }: ServerPatchBody,
): AdminAction {
  const action = 'mcp_server_updated';
  const had = before.credential ? 'set' : null;
  const saidBefore = actions === undefined ? undefined : actionsOf(before.server);
  const was = auditOf(action, before, undefined, saidBefore);
  const is = auditOf(action, after, undefined, actions);
  const replaced = formerValues({ ...was.details }, { ...is.details });
  return {
    ...is,
    details: {
      ...is.details,
      ...(credential !== undefined && { credential: credential ? 'set' : 'removed' }),
      before: { ...replaced, ...(credential !== undefined && { credential: had }) },
    },
  };
}

function auditOf(
  action: string,
  { server }: ServerWithCredential,
  credential: 'set' | 'removed' | null | undefined,
  toolActions?: NewServerBody['tool_actions'],
): AdminAction {
  const { serverId, transport, localName, enabled } = server;
  return {
    action,
    target: `mcp_server/${serverId}`,
    details: {
      transport,
      // Without the query, which may contain a key: the admin chain never deletes anything.
      ...(server.url && { url: new URL(server.url).origin + new URL(server.url).pathname }),
      ...(localName && { local_name: localName }),
      enabled,
      ...(credential && { credential }),
      ...(toolActions !== undefined && { tool_actions: toolActions ?? {} }),
    },
  };
}
