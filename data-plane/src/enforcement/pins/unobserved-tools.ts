/** Listed tools that could not be stored, whose present definition is therefore unknown. */
import type { ListedTool } from '../../upstream/lists/list-tools.ts';

type Place = { readonly tenantId: string; readonly serverId: string };

/** @param maxTools of one server; beyond it, all its tools count as unobserved until a restart */
export function createUnobservedTools(maxTools: number) {
  const servers = new Map<string, Set<string>>();
  const find = ({ tenantId, serverId }: Place) => servers.get(`${tenantId} ${serverId}`);

  return {
    /** Notes whether these tools were stored. Other tools of the server are not affected. */
    note({ tenantId, serverId }: Place, tools: readonly ListedTool[], isWritten: boolean): void {
      const server = `${tenantId} ${serverId}`;
      const noted = servers.get(server) ?? new Set();
      // No more names are kept: all tools of the server count as unobserved until a restart.
      if (noted.size > maxTools) return;
      for (const { name } of tools) {
        if (isWritten) noted.delete(name);
        else noted.add(name);
      }
      if (noted.size === 0) servers.delete(server);
      else servers.set(server, noted);
    },
    has(place: Place & { readonly toolName: string }): boolean {
      const noted = find(place);
      return noted !== undefined && (noted.has(place.toolName) || noted.size > maxTools);
    },
    hasAny: (place: Place): boolean => find(place) !== undefined,
  };
}
