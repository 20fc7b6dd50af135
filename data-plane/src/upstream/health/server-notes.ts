/**
 * Notes on MCP servers beside their answers: that one may not be used here, or that part of one is
 * left out. Heartbeats report them (`ServerReport.reasons`) until they are removed.
 */
import { MAX_SERVER_REASON, type ReportedHealth } from '@governance/shared/channel/channels';
import type { ServerFinding } from './server-report.ts';

/** The topic of a note: a server has one note for each. */
export type NoteTopic = 'credential' | 'list' | 'tools' | 'resources' | 'templates' | 'prompts';

export interface ServerNote {
  /** The server's state for the topic: `failing` where it cannot be used, `ok` where it can. */
  health: ReportedHealth;
  reason: string;
}

/** Servers of a tenant with notes; its registry has 500. */
const MAX_SERVERS = 500;

type NotesOfServer = Map<NoteTopic, ServerNote>;

/** Keeps the notes of all tenants. */
export class ServerNotes {
  readonly #tenants = new Map<string, Map<string, NotesOfServer>>();
  readonly #onChanged: (tenantId: string) => void;

  constructor(onChanged: (tenantId: string) => void) {
    this.#onChanged = onChanged;
  }

  /** @param note null removes the note on the topic */
  put(tenantId: string, serverId: string, topic: NoteTopic, note: ServerNote | null): void {
    const known = this.#tenants.get(tenantId)?.get(serverId);
    if (note === null) {
      if (!known?.delete(topic)) return;
      if (known.size === 0) this.#drop(tenantId, serverId);
    } else {
      const before = known?.get(topic);
      const reason = note.reason.slice(0, MAX_SERVER_REASON);
      if (before?.reason === reason && before.health === note.health) return;
      const servers = this.#tenants.get(tenantId) ?? new Map<string, NotesOfServer>();
      if (known === undefined && servers.size >= MAX_SERVERS) return;
      const notes = known ?? new Map<NoteTopic, ServerNote>();
      notes.set(topic, { health: note.health, reason });
      this.#tenants.set(tenantId, servers.set(serverId, notes));
    }
    this.#onChanged(tenantId);
  }

  /** A finding for each of the tenant's servers with notes. */
  *of(tenantId: string): Generator<ServerFinding> {
    for (const [serverId, notes] of this.#tenants.get(tenantId) ?? []) {
      const all = [...notes.values()];
      const isUsable = all.every(({ health }) => health === 'ok');
      const reason = all.map((note) => note.reason).join('; ');
      yield [serverId, isUsable ? 'ok' : 'failing', reason];
    }
  }

  /** Forgets servers that left the registry. */
  forget(isRegistered: (tenantId: string, serverId: string) => boolean): void {
    for (const [tenantId, servers] of this.#tenants) {
      for (const serverId of servers.keys()) {
        if (!isRegistered(tenantId, serverId)) this.#drop(tenantId, serverId);
      }
    }
  }

  #drop(tenantId: string, serverId: string): void {
    const servers = this.#tenants.get(tenantId);
    servers?.delete(serverId);
    if (servers?.size === 0) this.#tenants.delete(tenantId);
  }
}
