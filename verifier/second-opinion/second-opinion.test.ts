/** Two implementations that share no code agree on every stored package. */
import { spawnSync } from 'node:child_process';
import { createReadStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LedgerRecord } from '@governance/shared/ledger/ledger-record';
import { aDecision, anAnswerStarted, anOutcome } from '@governance/shared/testing/test-records';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parseTrustAnchor } from '../src/trust.ts';
import { SERVICE_LIMITS, verifyPackage } from '../src/verify-package.ts';
import { compareOpinions } from '../testing/compare-opinions.ts';
import {
  findMissingPython,
  type Opinion,
  opinionOf,
  secondOpinions,
} from '../testing/second-opinion.ts';

const folder = fileURLToPath(new URL('../vectors/files', import.meta.url));
const vectors = z
  .array(z.object({ name: z.string(), package: z.string(), anchor: z.string() }))
  .min(50)
  .parse(JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')));

const missing = findMissingPython();
if (missing !== undefined && process.env.CI === undefined) console.warn(`skipped: ${missing}`);

async function firstOpinion(path: string, anchorPath: string | null): Promise<Opinion> {
  const anchor = anchorPath === null ? null : parseTrustAnchor(readFileSync(anchorPath, 'utf8'));
  const given = { anchor, issuers: [], limits: SERVICE_LIMITS };
  return opinionOf(await verifyPackage(createReadStream(path), given));
}

it.runIf(process.env.CI !== undefined)('the second verifier can be run', () => {
  expect(missing).toBeUndefined();
});

describe.skipIf(missing !== undefined)('both verifiers agree on', () => {
  const anchors = [...new Set(vectors.map(({ anchor }) => anchor))];

  it.each(anchors)('every package for %s', async (anchor) => {
    const of = vectors.filter((vector) => vector.anchor === anchor);
    const anchorPath = join(folder, anchor);
    const paths = of.map((vector) => join(folder, vector.package));
    const second = secondOpinions(paths, anchorPath);
    expect(second).toHaveLength(of.length);
    for (const [i, path] of paths.entries()) {
      expect({ path, ...second[i] }).toEqual({ path, ...(await firstOpinion(path, anchorPath)) });
    }
  });

  it('every package that is read without an anchor', async () => {
    const paths = vectors.map((vector) => join(folder, vector.package));
    const second = secondOpinions(paths, null);
    for (const [i, path] of paths.entries()) {
      expect({ path, ...second[i] }).toEqual({ path, ...(await firstOpinion(path, null)) });
    }
  });

  // The whole run is `npm run fuzz:evidence`.
  it('a hundred mutated packages', async () => {
    expect(await compareOpinions(20_260_102, 100)).toEqual([]);
  });

  it('the numbers of RFC 8785, appendix B', () => {
    const path = new URL('../../shared/src/json/rfc-8785-numbers.json', import.meta.url);
    const numbers = z
      .array(z.tuple([z.string(), z.string()]))
      .length(24)
      .parse(JSON.parse(readFileSync(path, 'utf8')));
    const program = [
      'import json, struct, sys',
      'from canonical import number_text',
      'given = json.load(sys.stdin)',
      'print(json.dumps([number_text(struct.unpack(">d", bytes.fromhex(b))[0]) for b in given]))',
    ];
    const { stdout, stderr } = spawnSync('python3', ['-B', '-c', program.join('\n')], {
      cwd: fileURLToPath(new URL('.', import.meta.url)),
      input: JSON.stringify(numbers.map(([bits]) => bits)),
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual(numbers.map(([, text]) => text));
  });

  it('the records of a call to a model, with every member', () => {
    const id = '01890000-0000-7000-8000-000000000001';
    const place = { v: 2, tenant_id: id, stream: id, epoch: 1, seq: 2, prev_hash: '0'.repeat(64) };
    const model = { name: 'm', has_system_prompt: true, has_tools: false, message_count: 2 };
    const inspection = {
      step: 'inbound',
      inbound_findings: [{ class: 'urgency_framing', severity: 'low' as const }],
      dlp_findings_count: 1,
      dlp_findings: [{ severity: 'high' as const }],
      replacement_digest: '1'.repeat(64),
      escalation_id: id,
    };
    const usage = { status: 200, input_tokens: 3, output_tokens: 5, finish_reason: 'stop' };
    const { finish_reason: _, ...less } = usage;
    const records = [
      { ...place, ...aDecision({ model, protected_fields: ['target'] }) },
      { ...place, ...anOutcome(id, { inspection, model_usage: usage }) },
      { ...place, ...anOutcome(id), model_usage: less },
      { ...place, ...anOutcome(id), model_usage: { ...usage, more: 1 } },
      { ...place, ...anAnswerStarted(id) },
      { ...place, ...anAnswerStarted(id), status: null },
      { ...place, ...anAnswerStarted(id), more: 1 },
      ...[-1, 0, 99, 700, 200.5].map((status) => ({ ...place, ...anAnswerStarted(id), status })),
    ];
    const program = [
      'import json, sys',
      'from record_forms import FormError, ledger_record',
      'def takes(value):',
      '    try: ledger_record(value)',
      '    except FormError: return False',
      '    return True',
      'print(json.dumps([takes(value) for value in json.load(sys.stdin)]))',
    ];
    const { stdout, stderr } = spawnSync('python3', ['-B', '-c', program.join('\n')], {
      cwd: fileURLToPath(new URL('.', import.meta.url)),
      input: JSON.stringify(records),
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    const taken = [
      ...[true, true, false, false, true, false, false],
      ...[false, true, true, true, false],
    ];
    expect(JSON.parse(stdout)).toEqual(taken);
    expect(records.map((record) => LedgerRecord.safeParse(record).success)).toEqual(taken);
  });

  it('the exit codes of the verdicts', () => {
    const program = fileURLToPath(new URL('./verify.py', import.meta.url));
    const exitCode = (...args: string[]) => spawnSync('python3', ['-B', program, ...args]).status;
    const good = join(folder, 'contiguous.tar.gz');
    const forged = join(folder, 'a-record-that-was-edited.tar.gz');
    const [vector] = vectors.filter((one) => one.package === 'contiguous.tar.gz');
    const trust = ['--trust-anchor', join(folder, vector?.anchor ?? '')];
    expect(exitCode(good, ...trust)).toBe(0);
    expect(exitCode(good, forged, ...trust)).toBe(1);
    expect(exitCode(join(folder, 'index.json'), ...trust)).toBe(2);
    expect(exitCode(join(folder, 'none.tar.gz'), ...trust)).toBe(2);
    expect(exitCode(good)).toBe(3);
  });
});
