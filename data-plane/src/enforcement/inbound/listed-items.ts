/** The items of a list, each with its server. */
import type { BundleSettings } from '@governance/shared/bundle/bundle-format';
import { isObject } from '../../upstream/message.ts';
import type { ReceivedMessage } from '../call/received-message.ts';

/** The name of an item, or else its URI; empty where it has none. */
export function nameOfItem(item: unknown): string {
  const { name, uri, uriTemplate } = isObject(item) ? item : {};
  const found = [name, uri, uriTemplate].find((one) => typeof one === 'string');
  return typeof found === 'string' ? found : '';
}

/**
 * The server of an item. In a list of the unified gateway, the item's name or URI begins with the
 * server's id, which the gateway added. Empty where no server is found.
 */
export function serverOfItem(
  { serverId }: ReceivedMessage,
  { mcp_servers: servers }: BundleSettings,
  item: unknown,
): string {
  if (serverId !== '') return serverId;
  const { name, uri, uriTemplate } = isObject(item) ? item : {};
  const address = typeof uri === 'string' ? uri : uriTemplate;
  if (typeof address === 'string') {
    const end = address.indexOf('+', UNIFIED_SCHEME.length);
    return address.startsWith(UNIFIED_SCHEME) ? address.slice(UNIFIED_SCHEME.length, end) : '';
  }
  if (typeof name !== 'string') return '';
  for (
    let at = name.lastIndexOf('__', MAX_SERVER_ID);
    at > 0;
    at = name.lastIndexOf('__', at - 1)
  ) {
    const server = name.slice(0, at);
    if (Object.hasOwn(servers, server)) return server;
  }
  return '';
}

const UNIFIED_SCHEME = 'mcp+';
/** Longer ids are not a server's. */
const MAX_SERVER_ID = 64;
