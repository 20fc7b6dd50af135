import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EventMetadata } from './event-metadata.ts';
import { toCef, toLeef } from './log-lines.ts';

const EVENT: EventMetadata = {
  event_id: '0190aaaa-0000-7000-8000-000000000001',
  timestamp: '2026-01-02T03:04:05.678Z',
  event_type: 'policy_deny',
  agent_id: '0190aaaa-0000-7000-8000-00000000000a',
  session_id: 's-1',
  tool_name: 'write_file',
  mcp_server: 'files',
  action: 'write',
  policy_result: 'deny',
  policy_reason: 'Freeze: a=b|c\\d\nnext',
  behavioral_score: 12.5,
  risk_tier: 'low',
  dlp_findings_count: 2,
  causal_depth: 1,
  alert_type: null,
  severity: null,
};

/** A reader of CEF, written from its standard: character by character, knowing no fields. */
function parseCef(line: string) {
  const header: string[] = [''];
  let at = 0;
  for (; at < line.length && header.length <= 7; at++) {
    const char = line.charAt(at);
    if (char === '|') header.push('');
    else header[header.length - 1] += char === '\\' ? line.charAt(++at) : char;
  }
  const extension = new Map<string, string>();
  const ESCAPED: Record<string, string> = { n: '\n', r: '\r' };
  let [key, text, pending] = ['', '', ''];
  for (; at < line.length; at++) {
    const char = line.charAt(at);
    if (char === '=') {
      // What came since the last blank is the next key.
      const blank = text.lastIndexOf(' ');
      pending = text.slice(blank + 1);
      if (key !== '') extension.set(key, text.slice(0, blank));
      [key, text] = [pending, ''];
    } else if (char === '\\') {
      const next = line.charAt(++at);
      text += ESCAPED[next] ?? next;
    } else text += char;
  }
  if (key !== '') extension.set(key, text);
  return { header: header.slice(0, 7), extension };
}

/** A reader of LEEF 2.0 with its default delimiter. */
function parseLeef(line: string) {
  const parts = line.split('|');
  const header = parts.slice(0, 5);
  const attributes = new Map<string, string>();
  for (const pair of parts.slice(5).join('|').split('\t')) {
    const equals = pair.indexOf('=');
    attributes.set(pair.slice(0, equals), pair.slice(equals + 1));
  }
  return { header, attributes };
}

/** Texts that hold what the formats use themselves. */
const anyText = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('\\', '=', '|', '\n', '\r', '\t', ' ', 'act=', ' act', '\\n', '\u2028'),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''))
  .filter((text) => text !== '');

const anyEvent = fc
  .record({
    session_id: fc.option(anyText),
    tool_name: fc.option(anyText),
    mcp_server: fc.option(anyText),
    action: fc.option(anyText),
    policy_reason: fc.option(anyText),
    alert_type: fc.option(anyText),
    behavioral_score: fc.double({ min: 0, max: 100, noNaN: true }),
    dlp_findings_count: fc.nat(),
  })
  .map((fields): EventMetadata => ({ ...EVENT, ...fields }));

describe('CEF', () => {
  it('is one line with the fields of the event', () => {
    expect(toCef(EVENT)).toBe(
      'CEF:0|Agent Governance|Agent Governance Service|1.0|policy_deny|Tool call denied|7|' +
        'rt=1767323045678 externalId=0190aaaa-0000-7000-8000-000000000001 act=write outcome=deny ' +
        'reason=Freeze: a\\=b|c\\\\d\\nnext suser=0190aaaa-0000-7000-8000-00000000000a ' +
        'cs1=write_file cs1Label=tool_name cs2=files cs2Label=mcp_server cs3=s-1 ' +
        'cs3Label=session_id cs4=low cs4Label=risk_tier cn1=2 cn1Label=dlp_findings_count cn2=1 ' +
        'cn2Label=causal_depth cfp1=12.5 cfp1Label=behavioral_score',
    );
  });

  it('gives every text back, whatever it holds', () => {
    fc.assert(
      fc.property(anyEvent, (event) => {
        const line = toCef(event);
        expect(line).not.toMatch(/[\r\n]/);
        const { header, extension } = parseCef(line);
        expect(header.slice(4)).toEqual(['policy_deny', 'Tool call denied', '7']);
        const places = {
          act: event.action,
          reason: event.policy_reason,
          cs1: event.tool_name,
          cs2: event.mcp_server,
          cs3: event.session_id,
          cs5: event.alert_type,
        };
        for (const [key, text] of Object.entries(places)) {
          expect(extension.get(key) ?? null).toBe(text);
        }
        expect(extension.get('suser')).toBe(event.agent_id);
        expect(Number(extension.get('cfp1'))).toBe(event.behavioral_score);
      }),
    );
  });
});

describe('LEEF', () => {
  it('is one line with the specification’s keys', () => {
    const { header, attributes } = parseLeef(toLeef(EVENT));
    expect(header).toEqual([
      'LEEF:2.0',
      'Agent Governance',
      'Agent Governance Service',
      '1.0',
      EVENT.event_id,
    ]);
    expect(Object.fromEntries(attributes)).toEqual({
      devTime: '1767323045678',
      cat: 'policy_deny',
      sev: '7',
      severity: '7',
      src: EVENT.agent_id,
      dst: 'write_file',
      usrName: EVENT.agent_id,
      policy_result: 'deny',
      policy_reason: 'Freeze: a=b|c\\d next',
      dlp_findings: '2',
      session_id: 's-1',
      causal_depth: '1',
      mcp_server: 'files',
      action: 'write',
      behavioral_score: '12.5',
      risk_tier: 'low',
    });
  });

  it('gives every text back, with spaces for tabs and line breaks', () => {
    fc.assert(
      fc.property(anyEvent, (event) => {
        const line = toLeef(event);
        expect(line).not.toMatch(/[\r\n]/);
        const { header, attributes } = parseLeef(line);
        expect(header[4]).toBe(event.event_id);
        const places = {
          dst: event.tool_name,
          session_id: event.session_id,
          mcp_server: event.mcp_server,
          action: event.action,
          policy_reason: event.policy_reason,
          alert_type: event.alert_type,
        };
        for (const [key, text] of Object.entries(places)) {
          expect(attributes.get(key) ?? null).toBe(text?.replace(/[\t\r\n]/g, ' ') ?? null);
        }
      }),
    );
  });
});

it.each([
  [{ risk_tier: 'critical', policy_result: 'allow' }, 10],
  [{ risk_tier: 'low', policy_result: 'dlp_block' }, 8],
  [{ risk_tier: 'medium', policy_result: 'allow' }, 5],
  [{ risk_tier: null, policy_result: null }, 1],
  [{ risk_tier: null, policy_result: null, severity: 'high' }, 7],
] as const)('%j has the severity %i', (fields, severity) => {
  const { attributes } = parseLeef(toLeef({ ...EVENT, ...fields }));
  expect(attributes.get('sev')).toBe(String(severity));
});
