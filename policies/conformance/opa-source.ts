/** Where OPA's source is: the Go module that the compiler is built from, in Go's module cache. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { assetPath } from '@governance/shared/process/assets';

const MODULE = 'github.com/open-policy-agent/opa';

export class GoMissingError extends Error {
  override readonly name = 'GoMissingError';
}

/**
 * Returns the folder with OPA's source in the version that policies/compiler/go.mod names,
 * downloading it when the cache lacks it.
 * Throws `GoMissingError` when there is no Go.
 */
export function findOpaSource(): string {
  const cached = go(['list', '-m', '-f', '{{.Dir}}', MODULE]).trim();
  if (cached !== '' && existsSync(cached)) return cached;
  const { Dir } = JSON.parse(go(['mod', 'download', '-json', MODULE])) as { Dir: string };
  return Dir;
}

function go(args: string[]): string {
  try {
    return execFileSync('go', args, {
      cwd: assetPath('policies/compiler'),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      throw new GoMissingError("Go is not installed, so OPA's test cases cannot be fetched.");
    }
    throw error;
  }
}
