/**
 * The extensions of MCP that the gateway passes on, in either direction. Their names and settings are
 * declared to the other side and never judged, so nothing passes that a client or a server wrote: each
 * is declared anew, with the settings that are known here.
 */

import { isObject } from '../upstream/message.ts';
import type { Era } from '../upstream/upstream.ts';

/** Work that a server does as a task; of the modern era only. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';
/** MCP Apps: a tool names a page, which is read as a resource. */
export const APPS_EXTENSION = 'io.modelcontextprotocol/ui';

/** What MCP Apps (2026-01-26) defines; others are reserved. */
const PAGE_TYPES: readonly string[] = ['text/html;profile=mcp-app'];

/** Whether a client with these capabilities knows tasks. */
export function takesTasks(capabilities: Record<string, unknown> | undefined): boolean {
  const extensions = capabilities?.extensions;
  return isObject(extensions) && isObject(extensions[TASKS_EXTENSION]);
}

/**
 * The extensions of one side that are declared to the other; null where there are none.
 *
 * @param extensions of its capabilities, as it wrote them
 * @param era in which both sides speak; `legacy` where one of them does
 */
export function passedExtensions(extensions: unknown, era: Era): Record<string, object> | null {
  if (!isObject(extensions)) return null;
  const passed: Record<string, object> = {};
  const apps = extensions[APPS_EXTENSION];
  const pages = isObject(apps) ? pageSettings(apps) : null;
  if (pages !== null) passed[APPS_EXTENSION] = pages;
  if (era === 'modern' && isObject(extensions[TASKS_EXTENSION])) passed[TASKS_EXTENSION] = {};
  return Object.keys(passed).length > 0 ? passed : null;
}

/** Null where it is of no page that is known here. */
function pageSettings({ mimeTypes }: Record<string, unknown>): object | null {
  if (!Array.isArray(mimeTypes)) return {};
  const known = PAGE_TYPES.filter((type) => mimeTypes.includes(type));
  return known.length > 0 ? { mimeTypes: known } : null;
}
