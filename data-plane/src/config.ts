/** Reads the data plane's settings from the environment, once. Importing it does nothing. */
import { isIP } from 'node:net';
import { AddressSet } from '@governance/shared/outbound/address-set';
import { defaultPublicUrl } from '@governance/shared/process/listening-address';
import { SERVICE_SETTINGS } from '@governance/shared/service-settings';
import {
  parseSettings,
  type SettingProblem,
  type SettingValues,
} from '@governance/shared/settings';
import { findOpaProblems, readOpaConfig } from './opa-server/opa-settings.ts';
import { CONNECTION_SETTINGS, DATA_PLANE_SETTINGS, MIB } from './settings.ts';
import { readStdioServers, type StdioServers } from './upstream/stdio/servers-file.ts';

/** Specification 2, section 8. */
const LOCAL_MODEL_TIMEOUT_MS = 300_000;

/** The settings of the gateway. */
export type GatewayConfig = ReturnType<typeof readGatewayConfig>;

/**
 * Reads the gateway's slice of the environment, and the servers file that it names.
 *
 * @throws ConfigurationError naming every variable that is wrong
 */
export function readGatewayConfig(env: NodeJS.ProcessEnv) {
  let stdioServers: StdioServers = new Map();
  const values: SettingValues<typeof DATA_PLANE_SETTINGS> = parseSettings(
    DATA_PLANE_SETTINGS,
    env,
    (parsed): SettingProblem[] => {
      const problems = findOpaProblems(parsed);
      try {
        stdioServers = readStdioServers(parsed.mcpServersFile ?? null);
      } catch (error) {
        const message = error instanceof Error ? error.message : 'cannot be read';
        problems.push({ name: DATA_PLANE_SETTINGS.mcpServersFile.name, message });
      }
      return problems;
    },
  );
  const { environment } = parseSettings({ environment: SERVICE_SETTINGS.env }, env);
  return {
    ...values,
    stdioServers,
    /** Null where it is not set. */
    upstreamAllow: values.upstreamAllow ?? null,
    isProduction: environment === 'production',
    localModelTimeoutMs: LOCAL_MODEL_TIMEOUT_MS,
    /** Limits on the arguments of one call, checked before it is judged. */
    argumentLimits: { bytes: values.mcpArgumentLimitBytes, nodes: values.mcpArgumentLimitNodes },
    /** Limit on all files of the ledger together; null for no limit but the disk. */
    ledgerLimitBytes: values.ledgerLimitMib === undefined ? null : values.ledgerLimitMib * MIB,
    payloadLimitBytes: values.payloadLimitMib * MIB,
    /** The OPA server that decides; null for the built-in engine. */
    opa: readOpaConfig(values),
  };
}

/** The settings of the mode `data-plane`. Only the address and the token are required. */
export type DataPlaneConfig = ReturnType<typeof readDataPlaneConfig>;

/**
 * @param env usually `process.env`
 * @throws ConfigurationError naming every variable that is wrong or missing
 */
export function readDataPlaneConfig(env: NodeJS.ProcessEnv) {
  const { env: environment, deploymentMode: _mode, ...service } = SERVICE_SETTINGS;
  const values = parseSettings(
    { environment, ...service, ...CONNECTION_SETTINGS },
    env,
    ({ environment: mode, cpUrl, cpToken, cpAllowHttp = false }): SettingProblem[] => [
      ...(cpUrl ? [] : [{ name: 'SERVICE_CP_URL', message: 'is required in this mode' }]),
      ...(cpToken ? [] : [{ name: 'SERVICE_CP_TOKEN', message: 'is required in this mode' }]),
      ...(cpUrl && mode === 'production' ? findPlainHttp(cpUrl, cpAllowHttp) : []),
    ],
  );
  const { host, port, cpUrl, cpToken } = values;
  // The check above guarantees both.
  if (!cpUrl || !cpToken) throw new Error('the connection is not configured');
  return {
    ...values,
    publicUrl: values.publicUrl ?? defaultPublicUrl(host, port),
    metricsToken: values.metricsToken?.reveal(),
    isProduction: values.environment === 'production',
    cpUrl,
    cpTokens: cpToken,
    region: values.region ?? null,
  };
}

/**
 * Checks the modes that are one process.
 *
 * @param mode SERVICE_DEPLOYMENT_MODE
 * @throws ConfigurationError where SERVICE_WORKERS asks for more than one
 */
export function requireOneProcess(
  env: NodeJS.ProcessEnv,
  mode: 'standalone' | 'control-plane',
): void {
  const { workers } = CONNECTION_SETTINGS;
  parseSettings({ workers }, env, (values): SettingProblem[] => {
    if (values.workers === undefined || values.workers === 1) return [];
    const why =
      mode === 'standalone'
        ? 'standalone is one process: run a control plane, and a data plane beside it'
        : 'workers are of data planes: run another control plane on the same database instead';
    return [{ name: workers.name, message: `must be 1 in mode ${mode}; ${why}` }];
  });
}

const PRIVATE = new AddressSet([
  ...['10.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16'],
  ...['fc00::/7', 'fe80::/10', '::1/128'],
]);

/**
 * The token and every fact travel over it: production requires https unless the operator allows
 * plain http.
 */
function findPlainHttp(url: string, isAllowed: boolean): SettingProblem[] {
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:') return [];
  const { name } = CONNECTION_SETTINGS.cpUrl;
  if (!isAllowed) {
    const message = `must be https in production (or set ${CONNECTION_SETTINGS.cpAllowHttp.name}=true)`;
    return [{ name, message }];
  }
  const address = hostname.replace(/^\[|\]$/g, '');
  const isPrivate = isIP(address) === 0 || PRIVATE.has(address);
  return isPrivate ? [] : [{ name, message: 'must be https for a public address' }];
}
