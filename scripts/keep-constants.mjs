// The bundler turns top-level constants into variables. V8 reads a constant once when it compiles a
// loop, but looks up a variable at every step, which makes content inspection take half as long
// again.
import { readFileSync, writeFileSync } from 'node:fs';
import { transform } from 'esbuild';

const DECLARATION = /^var (\{[^}]*\}|\[[^\]]*\]|[\w$]+) = /gm;

/**
 * Declares the top-level variables of a bundle that are never reassigned as constants. A line of a
 * template literal that begins like a declaration would be changed too: no source has one.
 */
export async function keepConstants(path) {
  const code = readFileSync(path, 'utf8');
  // Keeps the columns after the sign, for the source map.
  const constants = (changed) =>
    code.replace(DECLARATION, (whole, names) =>
      names.match(/[\w$]+/g).some((name) => changed.has(name)) ? whole : `const ${names}=`,
    );
  const { warnings } = await transform(constants(new Set()), { logLevel: 'silent', logLimit: 0 });
  const changed = new Set(
    warnings
      .filter(({ id }) => id === 'assign-to-constant')
      .map(({ text }) => /"([\w$]+)"/.exec(text)?.[1]),
  );
  writeFileSync(path, constants(changed));
}
