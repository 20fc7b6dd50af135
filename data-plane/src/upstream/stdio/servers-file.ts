import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { zodFault } from '@governance/shared/http/zod-fault';
import { z } from 'zod';

/** In `tenants`: every tenant that this data plane serves. */
export const EVERY_TENANT = '*';

/** One stdio server: a command that the operator of this host lets the data plane run. */
export const StdioServer = z.strictObject({
  command: z.string().min(1),
  /**
   * The ids of the tenants that may use it, or `*`. Without it the single tenant of a data plane
   * may; where there are several, none may.
   */
  tenants: z
    .array(
      z.union([z.literal(EVERY_TENANT), z.uuid().toLowerCase()], {
        error: `must be the id of a tenant, or ${EVERY_TENANT}`,
      }),
    )
    .min(1)
    .max(1000)
    .optional(),
  args: z.array(z.string()).default([]),
  /** The whole environment beside PATH and HOME: the service's own is not passed on. */
  env: z.record(z.string(), z.string()).default({}),
  cwd: z.string().optional(),
});
export type StdioServer = z.infer<typeof StdioServer>;

const ServersFile = z.strictObject({ servers: z.record(z.string().min(1), StdioServer) });

export type StdioServers = ReadonlyMap<string, StdioServer>;

/**
 * Reads SERVICE_MCP_SERVERS_FILE. Commands come only from this file: the API registers a server by
 * its name here.
 *
 * @param path the file; null or '' for none. A relative `cwd` starts at the file's folder.
 * @throws Error that names the file and what is wrong with it
 */
export function readStdioServers(path: string | null): StdioServers {
  if (path === null || path === '') return new Map();
  let parsed: z.infer<typeof ServersFile>;
  try {
    parsed = ServersFile.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    const why = error instanceof z.ZodError ? zodFault(error) : String(error);
    throw new Error(`SERVICE_MCP_SERVERS_FILE ${path}: ${why}`, { cause: error });
  }
  const folder = dirname(resolve(path));
  return new Map(
    Object.entries(parsed.servers).map(([name, server]) => [
      name,
      { ...server, cwd: server.cwd === undefined ? folder : resolve(folder, server.cwd) },
    ]),
  );
}
