/** The settings that both planes read (specification 1, section 1, and the product's own). */
import { z } from 'zod';
import { parseTrustedProxies } from './http/client-address.ts';
import {
  bareAddress,
  commaList,
  flag,
  originList,
  secretText,
  setting,
  wholeNumber,
} from './settings.ts';

export const SERVICE_SETTINGS = {
  env: setting({
    name: 'SERVICE_ENV',
    description:
      '`production` refuses to start without SERVICE_ADMIN_PASSWORD, with DATABASE_URL also without SERVICE_MASTER_KEY; a data plane without an https SERVICE_CP_URL. Keys that are not given are kept in the data folder, and /metrics is closed without SERVICE_METRICS_TOKEN.',
    default: 'development',
    parse: z.enum(['development', 'production'], { error: 'must be development or production' }),
  }),
  deploymentMode: setting({
    name: 'SERVICE_DEPLOYMENT_MODE',
    description: 'Both planes in one process (`standalone`), or one of them.',
    default: 'standalone',
    parse: z.enum(['standalone', 'control-plane', 'data-plane'], {
      error: 'must be standalone, control-plane or data-plane',
    }),
  }),
  host: setting({
    name: 'SERVICE_HOST',
    description: 'The address to listen on; `0.0.0.0` is every IPv4 address of the machine.',
    default: '127.0.0.1',
    parse: z.string(),
  }),
  port: setting({
    name: 'SERVICE_PORT',
    description: 'The port to listen on; 0 takes a free one.',
    default: '8080',
    parse: wholeNumber(0, 65_535),
  }),
  publicUrl: setting({
    name: 'SERVICE_PUBLIC_URL',
    description:
      'Where clients reach the service. It is the issuer of tokens and, with /mcp/v1, their audience.',
    defaultNote: 'http://localhost (or SERVICE_HOST, where it is no loopback address) and the port',
    parse: bareAddress,
  }),
  dataDir: setting({
    name: 'SERVICE_DATA_DIR',
    description: 'The folder for everything that is kept; one service a folder.',
    default: './.data',
    parse: z.string(),
  }),
  debug: setting({
    name: 'SERVICE_DEBUG',
    description:
      '`true` sets the log level to debug, which says of each call how its decision came about.',
    default: 'false',
    parse: flag,
  }),
  corsOrigins: setting({
    name: 'SERVICE_CORS_ORIGINS_STR',
    description: 'Origins whose pages may call the service, separated by commas; `*` is every one.',
    default: '',
    parse: originList,
  }),
  trustedProxies: setting({
    name: 'SERVICE_TRUSTED_PROXIES',
    description:
      'Addresses and CIDRs of reverse proxies, separated by commas. Limits by address count the last hop of X-Forwarded-For that is not one of them; without the setting, the header is ignored and all that comes through a proxy has one address.',
    default: '',
    defaultNote: 'none: the address of the connection counts',
    parse: commaList.transform((entries, context) => {
      try {
        return parseTrustedProxies(entries);
      } catch (error) {
        context.addIssue(error instanceof Error ? error.message : 'is not a list of addresses');
        return z.NEVER;
      }
    }),
  }),
  metricsToken: setting({
    name: 'SERVICE_METRICS_TOKEN',
    description:
      'When set, /metrics asks for it as a bearer token, and names tenants. Without it, /metrics adds up all tenants in development and is closed in production.',
    parse: secretText,
  }),
};
