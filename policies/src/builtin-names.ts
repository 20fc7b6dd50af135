/**
 * The built-ins that policies may call although OPA's WebAssembly has none of its own for them, and
 * those of its own that answer otherwise than OPA's interpreter: by them a call could pass a rule.
 * The compiler renames such a call to `governance.<name>` and the evaluator gives that name to
 * the WebAssembly as a custom built-in, bounded in time and memory. The rename is needed because
 * the npm package's own forms (sprintf above all) win over a custom built-in of the same name.
 * Sources in a bundle keep the author's spelling, so that a stock OPA evaluates them.
 */
export const OWN_BUILTINS = [
  'sprintf',
  'time.now_ns',
  'time.clock',
  'time.date',
  'time.weekday',
  'time.parse_rfc3339_ns',
  'time.add_date',
  'object.subset',
  'regex.replace',
  'hex.encode',
  'hex.decode',
  'crypto.sha256',
  'semver.compare',
  'semver.is_valid',
  'units.parse_bytes',
  'glob.match',
  'net.cidr_contains',
  'net.cidr_overlap',
  'net.cidr_intersects',
  'json.is_valid',
  'json.unmarshal',
  'base64.decode',
  'base64.is_valid',
  'base64url.decode',
  'to_number',
  'format_int',
] as const;

/** A built-in of OPA that the evaluator implements with bounds. */
export type OwnBuiltin = (typeof OWN_BUILTINS)[number];

/** The name by which the compiled WebAssembly calls a built-in of ours. */
export type WasmBuiltinName = `governance.${OwnBuiltin}`;

/**
 * Takes the name as an author writes it, returns the name in the compiled WebAssembly:
 * `sprintf` becomes `governance.sprintf`. Never throws.
 */
export function wasmBuiltinName(name: OwnBuiltin): WasmBuiltinName {
  return `governance.${name}`;
}

/** The compiler's renamings: the author's name to the WebAssembly's. */
export const BUILTIN_RENAMES: Readonly<Record<OwnBuiltin, WasmBuiltinName>> = Object.fromEntries(
  OWN_BUILTINS.map((name) => [name, wasmBuiltinName(name)]),
) as Record<OwnBuiltin, WasmBuiltinName>;
