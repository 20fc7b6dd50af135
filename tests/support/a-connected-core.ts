/** The core of a data plane in the test's own process, connected to a control plane over HTTP. */
import { createDataPlaneCore } from '@governance/data-plane/core/data-plane-core';
import { connectControlPlane } from '@governance/data-plane/registration/connect';

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

/**
 * @param options.token of a deployment, from the control plane at `cpUrl`
 * @param options.now the clock of its machine; the test's unless given
 */
export async function aConnectedCore(options: {
  dataDir: string;
  cpUrl: string;
  token: string;
  now?: () => number;
}) {
  const { dataDir, cpUrl, token, now } = options;
  const core = await createDataPlaneCore({
    dataDir,
    version: '1.0.0',
    log,
    ...(now && { now }),
    onFatal: (error) => {
      throw error;
    },
    readUsedShare: async () => 0,
    loadPolicy: async () => ({ evaluate: () => ({ ok: false, fault: 'trap', message: '' }) }),
    backoffLimits: { first: 10, longest: 100 },
  });
  const about = { region: null, version: '1.0.0', label: 'here' };
  const link = await connectControlPlane({ core, dataDir, cpUrl, tokens: [token], ...about, log });
  const stop = async () => {
    await link.stop();
    await core.stop(100);
  };
  return { core, stop };
}
