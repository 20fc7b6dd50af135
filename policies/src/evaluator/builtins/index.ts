/** Our own forms of the built-ins in builtin-names.ts, by the name the WebAssembly asks for. */
import type { OwnBuiltin, WasmBuiltinName } from '../../builtin-names.ts';
import { wasmBuiltinName } from '../../builtin-names.ts';
import type { Builtin } from './builtin.ts';
import {
  base64Decode,
  base64IsValid,
  base64UrlDecode,
  hexDecode,
  hexEncode,
  sha256,
} from './encoding.ts';
import { globMatch } from './glob.ts';
import { cidrContains, cidrIntersects } from './ip-network.ts';
import { jsonIsValid, jsonUnmarshal } from './json.ts';
import { formatInt, toNumber } from './numbers.ts';
import { objectSubset } from './object-subset.ts';
import { regexReplace } from './regex-replace.ts';
import { semverCompare, semverIsValid } from './semver.ts';
import { sprintf } from './sprintf.ts';
import {
  timeAddDate,
  timeClock,
  timeDate,
  timeNow,
  timeParseRfc3339,
  timeWeekday,
} from './time.ts';
import { parseBytes } from './units.ts';

const BY_AUTHOR_NAME: Readonly<Record<OwnBuiltin, Builtin>> = {
  sprintf,
  'time.now_ns': timeNow,
  'time.clock': timeClock,
  'time.date': timeDate,
  'time.weekday': timeWeekday,
  'time.parse_rfc3339_ns': timeParseRfc3339,
  'time.add_date': timeAddDate,
  'object.subset': objectSubset,
  'regex.replace': regexReplace,
  'hex.encode': hexEncode,
  'hex.decode': hexDecode,
  'crypto.sha256': sha256,
  'semver.compare': semverCompare,
  'semver.is_valid': semverIsValid,
  'units.parse_bytes': parseBytes,
  'glob.match': globMatch,
  'net.cidr_contains': cidrContains,
  'net.cidr_overlap': cidrContains,
  'net.cidr_intersects': cidrIntersects,
  'json.is_valid': jsonIsValid,
  'json.unmarshal': jsonUnmarshal,
  'base64.decode': base64Decode,
  'base64.is_valid': base64IsValid,
  'base64url.decode': base64UrlDecode,
  to_number: toNumber,
  format_int: formatInt,
};

export const OWN_BUILTIN_FUNCTIONS = Object.fromEntries(
  Object.entries(BY_AUTHOR_NAME).map(([name, builtin]) => [
    wasmBuiltinName(name as OwnBuiltin),
    builtin,
  ]),
) as Readonly<Record<WasmBuiltinName, Builtin>>;
