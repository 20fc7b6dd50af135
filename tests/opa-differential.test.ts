import { describe, expect, test } from 'vitest';
import { composeBundle } from '../control-plane/src/bundles/bundle-content.ts';
import { compareBuiltins } from '../policies/conformance/differential/compare-builtins.ts';
import { findOpa } from '../policies/conformance/differential/opa-server.ts';
import { runDifferential } from '../policies/conformance/differential/run-differential.ts';

const opa = findOpa();

if (opa === undefined) {
  describe('a stock OPA', () => {
    test('is not on the path of this machine, so there is nothing to compare with', () => {
      console.info('opa-differential: go install github.com/open-policy-agent/opa@v1.22.0');
      expect(findOpa()).toBeUndefined();
    });
  });
} else {
  describe(`a stock OPA ${opa}`, () => {
    test('loads and verifies our bundle and decides as we do', async () => {
      const report = await runDifferential({
        writeBundle: async (request) => (await composeBundle({ ...request, revision: 1 })).bytes,
        inputsTogether: 300,
        inputsAlone: 0,
        seed: 7,
      });
      expect(report.differences).toEqual([]);
      expect(report.builtinsUnused).toEqual([]);
      expect(Math.min(...Object.values(report.decisions))).toBeGreaterThan(0);
    }, 120_000);

    test('answers single calls of built-ins as ours do', async () => {
      const comparison = await compareBuiltins(11, 100);
      expect(comparison.differences).toEqual([]);
      expect(comparison.refused.length).toBeLessThan(comparison.calls / 20);
    }, 120_000);
  });
}
