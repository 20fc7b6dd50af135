/**
 * Events as lines of text: CEF (ArcSight Common Event Format, version 0) and LEEF 2.0 (IBM QRadar).
 * Property tests read the lines back with independent parsers (log-lines.test.ts).
 */
import { type EventMetadata, severityOf } from './event-metadata.ts';

const VENDOR = 'Agent Governance';
const PRODUCT = 'Agent Governance Service';
const VERSION = '1.0';

const NAMES: Record<EventMetadata['event_type'], string> = {
  tool_call: 'Tool call allowed',
  policy_deny: 'Tool call denied',
  policy_escalate: 'Tool call waits for a person',
  admin_action: 'Management action',
  alert: 'Alert',
};

type Field = readonly [key: string, value: string | number | null];

/**
 * Writes an event as one line of CEF, without the line break.
 *
 * The header escapes `\` and `|`, the extension `\`, `=` and line breaks (CEF implementation
 * standard, "Character encoding"); fields without a value are left out.
 */
export function toCef(event: EventMetadata): string {
  const header = [
    ...[VENDOR, PRODUCT, VERSION, event.event_type, NAMES[event.event_type]].map(cefHeader),
    String(severityOf(event)),
  ];
  const extension = cefFields(event)
    .filter(isGiven)
    .map(([key, value]) => `${key}=${cefValue(String(value))}`);
  return `CEF:0|${header.join('|')}|${extension.join(' ')}`;
}

function cefFields(event: EventMetadata): Field[] {
  return [
    ['rt', Date.parse(event.timestamp)],
    ['externalId', event.event_id],
    ['act', event.action],
    ['outcome', event.policy_result],
    ['reason', event.policy_reason],
    ['suser', event.agent_id],
    ...labelled('cs1', 'tool_name', event.tool_name),
    ...labelled('cs2', 'mcp_server', event.mcp_server),
    ...labelled('cs3', 'session_id', event.session_id),
    ...labelled('cs4', 'risk_tier', event.risk_tier),
    ...labelled('cs5', 'alert_type', event.alert_type),
    ...labelled('cs6', 'severity', event.severity),
    ...labelled('cn1', 'dlp_findings_count', event.dlp_findings_count),
    ...labelled('cn2', 'causal_depth', event.causal_depth),
    ...labelled('cfp1', 'behavioral_score', event.behavioral_score),
  ];
}

/** A custom field of CEF, for what CEF does not define; its label names the content. */
function labelled(key: string, label: string, value: string | number | null): Field[] {
  return isGiven([key, value])
    ? [
        [key, value],
        [`${key}Label`, label],
      ]
    : [];
}

function cefHeader(text: string): string {
  return text.replace(/[\r\n]/g, ' ').replace(/[\\|]/g, '\\$&');
}

function cefValue(text: string): string {
  return text.replace(/[\\=]/g, '\\$&').replace(/\n/g, '\\n').replace(/\r/g, '\\r');
}

/**
 * Writes an event as one line of LEEF 2.0, without the line break.
 *
 * Attributes are separated by tabs; tabs and line breaks within values become spaces (specification
 * 2, "Formats"). LEEF's own `cat` and `sev` are added to the specification's keys.
 */
export function toLeef(event: EventMetadata): string {
  const header = [VENDOR, PRODUCT, VERSION, event.event_id].map(leefHeader);
  const attributes = leefFields(event)
    .filter(isGiven)
    .map(([key, value]) => `${key}=${leefValue(String(value))}`);
  return `LEEF:2.0|${header.join('|')}|${attributes.join('\t')}`;
}

function leefFields(event: EventMetadata): Field[] {
  const severity = severityOf(event);
  return [
    ['devTime', Date.parse(event.timestamp)],
    ['cat', event.event_type],
    ['sev', severity],
    ['severity', severity],
    ['src', event.agent_id],
    ['dst', event.tool_name],
    ['usrName', event.agent_id],
    ['policy_result', event.policy_result],
    ['policy_reason', event.policy_reason],
    ['dlp_findings', event.dlp_findings_count],
    ['session_id', event.session_id],
    ['causal_depth', event.causal_depth],
    ['mcp_server', event.mcp_server],
    ['action', event.action],
    ['behavioral_score', event.behavioral_score],
    ['risk_tier', event.risk_tier],
    ['alert_type', event.alert_type],
    ['alert_severity', event.severity],
  ];
}

/** The header has no escapes. */
function leefHeader(text: string): string {
  return text.replace(/[|\t\r\n]/g, ' ');
}

function leefValue(text: string): string {
  return text.replace(/[\t\r\n]/g, ' ');
}

function isGiven([, value]: Field): boolean {
  return value !== null && value !== '';
}
