/**
 * A process with several data planes, each started as in production with its own data folder,
 * ledger, replica and listener, and joined to the control plane over HTTP. It watches what
 * enforcement reads, and reports when each of its planes decides differently.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataPlaneCore } from '@governance/data-plane/core/data-plane-core';
import { dlpOf } from '@governance/data-plane/enforcement/dlp/dlp-scanners';
import { findIneligibility } from '@governance/data-plane/enforcement/permission/eligibility';
import { perSettings } from '@governance/data-plane/enforcement/permission/per-settings';
import { findServer } from '@governance/data-plane/enforcement/permission/permits';
import { type RunningDataPlane, startDataPlane } from '@governance/data-plane/main';
import { connectControlPlane } from '@governance/data-plane/registration/connect';
import { DEFAULT_BLAST_RADIUS } from '@governance/shared/detect/reach/blast-radius-settings';
import { createReachFinder } from '@governance/shared/detect/reach/reach';
import type { OutboundAction } from '@governance/shared/settings/dlp-settings';
import { markOf } from '../../scripts/durability/marked-backend.ts';
import { freePort } from '../../tests/support/service-process.ts';
import { serveParent } from './child.ts';
import { clockMs } from './figures.ts';

export interface PlanesOptions {
  cpUrl: string;
  token: string;
  /** One for each plane, each in its own folder. */
  dataDirs: string[];
}

/** The decision that each plane is to reach. */
export type Expected =
  | { kind: 'agent'; agentId: string; isIneligible: boolean }
  | { kind: 'server'; serverId: string; url: string }
  /** What is done about a finding of low severity that is sent. */
  | { kind: 'dlp'; low: OutboundAction }
  /** Whether a marked call is denied for its path. */
  | { kind: 'blast-radius'; isDenied: boolean };

/** Between two looks at what enforcement reads. */
const LOOK_MS = 2;
const GIVE_UP_MS = 30_000;

interface Plane {
  core: DataPlaneCore;
  running: RunningDataPlane;
}

const planes: Plane[] = [];
let watching: Promise<(number | null)[]> | undefined;

// Each plane's banner is for a terminal.
console.log = () => {};

async function startPlane(options: PlanesOptions, dataDir: string): Promise<Plane> {
  const port = await freePort();
  let core: DataPlaneCore | undefined;
  const running = await startDataPlane(
    {
      SERVICE_DEPLOYMENT_MODE: 'data-plane',
      SERVICE_PORT: String(port),
      SERVICE_PUBLIC_URL: `http://127.0.0.1:${port}`,
      SERVICE_DATA_DIR: dataDir,
      SERVICE_CP_URL: options.cpUrl,
      SERVICE_CP_TOKEN: options.token,
    },
    {
      // Production's own; only the plane's core is kept, for inspection.
      connect: (given) => {
        core = given.core;
        return connectControlPlane(given);
      },
      onFatal: () => process.exit(1),
    },
  );
  if (!core) throw new Error('the plane was not connected');
  return { core, running };
}

function tenantOf({ core }: Plane): string {
  const tenantId = core.status().tenants[0]?.tenant_id;
  if (tenantId === undefined) throw new Error('the plane serves no tenant');
  return tenantId;
}

/** As the pipeline's step does, once for each bundle. */
const isBeyondReach = perSettings((settings) =>
  createReachFinder(settings.blast_radius ?? DEFAULT_BLAST_RADIUS)({
    ...{ name: 'mark', action: 'write', args: { path: markOf(0) } },
  }).some(({ verdict }) => verdict === 'deny'),
);

/** Calls the very functions that the pipeline's steps and the gateway use. */
function decides(plane: Plane, tenantId: string, expected: Expected): boolean {
  const { replica, rules } = plane.core;
  if (expected.kind === 'agent') {
    const agent = replica.findAgent(tenantId, expected.agentId);
    if (!agent) return false;
    const findDenial = (id: string) => plane.core.findDenial(id);
    return (
      (findIneligibility({ tenantId, agent }, { replica, findDenial }) !== undefined) ===
      expected.isIneligible
    );
  }
  const active = rules.findActiveRules(tenantId);
  if (active === null) return false;
  switch (expected.kind) {
    case 'server':
      return findServer(active, expected.serverId)?.url === expected.url;
    case 'dlp':
      return dlpOf(active.settings).settings.outbound.low === expected.low;
    case 'blast-radius':
      return isBeyondReach(active.settings) === expected.isDenied;
  }
}

/** When each plane first decided as expected; null for a plane that did not in time. */
function watch(expected: Expected): Promise<(number | null)[]> {
  const tenants = planes.map(tenantOf);
  const reached: (number | null)[] = planes.map(() => null);
  const began = clockMs();
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      for (const [i, plane] of planes.entries()) {
        if (reached[i] !== null) continue;
        if (decides(plane, tenants[i] as string, expected)) reached[i] = clockMs();
      }
      if (reached.includes(null) && clockMs() - began < GIVE_UP_MS) return;
      clearInterval(timer);
      resolve(reached);
    }, LOOK_MS);
  });
}

serveParent(
  {
    start: async (options: PlanesOptions) => {
      for (const dataDir of options.dataDirs) planes.push(await startPlane(options, dataDir));
      return planes.map(({ running }) => running.url);
    },
    /** Resolves when all planes decide so, whatever they decided before. */
    settle: async (expected: Expected) => {
      for (;;) {
        const isThere = planes.every(
          (plane) =>
            plane.core.status().tenants.length > 0 && decides(plane, tenantOf(plane), expected),
        );
        if (isThere) return;
        await sleep(50);
      }
    },
    /** Begins to watch. @returns how many planes decide so already: none should */
    arm: (expected: Expected) => {
      const already = planes.filter((plane) => decides(plane, tenantOf(plane), expected));
      watching = watch(expected);
      return already.length;
    },
    reached: () => watching,
  },
  async () => {
    await Promise.all(planes.map(({ running }) => running.stop()));
  },
);
