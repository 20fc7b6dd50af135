// The bundler writes top-level constants as variables. V8 reads a constant once when it compiles a
// loop, and looks a variable up at every step: what looks at content takes half as long again.
import { readFileSync, writeFileSync } from 'node:fs';
import { transform } from 'esbuild';

const DECLARATION = /^var (\{[^}]*\}|\[[^\]]*\]|[\w$]+) = /gm;

/**
 * Writes the top-level variables of a bundle that are never assigned to again as constants. A line of
 * a template that begins as a declaration would be taken for one: no source has one.
 */
export async function keepConstants(path) {
  const code = readFileSync(path, 'utf8');
  // The same columns behind the sign, for the map of the sources.
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
