/**
 * OPA's glob.match with the meaning of gobwas/glob. OPA's WebAssembly makes a regular expression of
 * the pattern, in which a star ends at a line break. Here a pattern becomes a non-deterministic
 * automaton whose states advance together, so that a match is linear in the text for any pattern.
 */
import { RegoNumber, RegoObject, RegoSet, type RegoValue } from '../rego-value.ts';
import { type Builtin, type BuiltinCall, BuiltinLimitError } from './builtin.ts';
import { type GlobNode, parseGlob } from './glob-pattern.ts';

const MAX_PATTERN = 1_000;
const CACHED_PATTERNS = 256;
/** The cost of parsing a pattern, once per decision, for each of its characters. */
const FUEL_PER_PATTERN_CHARACTER = 200;
/** The cost of one state at one character of the text. */
const FUEL_PER_STEP = 15;
/** The cost of a character where only literals are searched. */
const FUEL_PER_SEARCHED = 2;
const DEFAULT_DELIMITERS: readonly RegoValue[] = ['.'];

/** A state and where it leads: `test` reads a character, `jump` none; the last state accepts. */
type State = { test: (character: string) => boolean; next: number } | { jump: readonly number[] };

interface Glob {
  states: readonly State[];
  /** The literals between stars that stop at nothing, where the pattern has nothing else. */
  pieces: readonly string[] | undefined;
}

/** Compiled patterns, least recently used first; undefined for invalid ones. */
const compiled = new Map<string, Glob | undefined>();

export const globMatch: Builtin = ([pattern, delimiters, text], call) => {
  if (typeof pattern !== 'string' || typeof text !== 'string') return undefined;
  const stops = readDelimiters(delimiters);
  if (stops === undefined) return undefined;
  if (pattern.length > MAX_PATTERN) {
    throw new BuiltinLimitError(`a pattern of over ${MAX_PATTERN} characters`);
  }
  const glob = compileOnce(pattern, stops, call);
  if (glob === undefined) return undefined;
  if (glob.pieces === undefined) return runStates(glob.states, text, call);
  call.charge(text.length * FUEL_PER_SEARCHED);
  return hasPieces(glob.pieces, text);
};

/** Null is none, an empty array the dot; anything but single characters is an error in OPA. */
function readDelimiters(value: RegoValue | undefined): string | undefined {
  if (value === null) return '';
  if (!isArray(value)) return undefined;
  const list = value.length === 0 ? DEFAULT_DELIMITERS : value;
  const isCharacter = (item: RegoValue) => typeof item === 'string' && [...item].length === 1;
  return list.every(isCharacter) ? list.join('') : undefined;
}

function isArray(value: RegoValue | undefined): value is readonly RegoValue[] {
  const isOther = [RegoNumber, RegoObject, RegoSet].some((type) => value instanceof type);
  return typeof value === 'object' && value !== null && !isOther;
}

function compileOnce(pattern: string, stops: string, call: BuiltinCall): Glob | undefined {
  // The pattern's length tells where it ends, so that no two pairs have one key.
  const key = `glob ${pattern.length} ${pattern}${stops}`;
  if (call.firstUse(key)) call.charge(pattern.length * FUEL_PER_PATTERN_CHARACTER);
  const glob = compiled.has(key) ? compiled.get(key) : compile(pattern, stops);
  compiled.delete(key);
  compiled.set(key, glob);
  if (compiled.size > CACHED_PATTERNS) compiled.delete(compiled.keys().next().value as string);
  return glob;
}

function compile(pattern: string, stops: string): Glob | undefined {
  const nodes = parseGlob(pattern);
  if (nodes === undefined) return undefined;
  const states: State[] = [];
  addSequence(nodes, states, new Set(stops));
  return { states, pieces: findPieces(nodes, stops) };
}

/** Appends the states of a sequence; the state after the last one is what follows it. */
function addSequence(nodes: readonly GlobNode[], states: State[], stops: Set<string>): void {
  const isNoStop = (character: string) => !stops.has(character);
  for (const node of nodes) {
    const at = states.length;
    if (node.kind === 'text') {
      for (const wanted of node.text) addTest(states, (character) => character === wanted);
    } else if (node.kind === 'one') addTest(states, isNoStop);
    else if (node.kind === 'class') addTest(states, node.test);
    else if (node.kind === 'star') {
      const test = node.stops && stops.size > 0 ? isNoStop : () => true;
      states.push({ jump: [at + 1, at + 2] }, { test, next: at });
    } else addAlternatives(node.branches, states, stops);
  }
}

function addTest(states: State[], test: (character: string) => boolean): void {
  states.push({ test, next: states.length + 1 });
}

function addAlternatives(
  branches: readonly (readonly GlobNode[])[],
  states: State[],
  stops: Set<string>,
): void {
  const starts: number[] = [];
  const ends: number[][] = [];
  states.push({ jump: starts });
  for (const branch of branches) {
    starts.push(states.length);
    addSequence(branch, states, stops);
    const end: number[] = [];
    ends.push(end);
    states.push({ jump: end });
  }
  for (const end of ends) end.push(states.length);
}

function runStates(states: readonly State[], text: string, call: BuiltinCall): boolean {
  const accepting = states.length;
  /** In which round a state was last entered, so that each is entered once a character. */
  const entered = new Int32Array(accepting + 1);
  let active: number[] = [];
  let round = 1;
  enter(states, 0, active, entered, round);
  let steps = active.length;
  for (const character of text) {
    const following: number[] = [];
    round++;
    for (const at of active) {
      const state = states[at];
      if (state && 'test' in state && state.test(character)) {
        enter(states, state.next, following, entered, round);
      }
    }
    active = following;
    if (active.length === 0) break;
    steps += active.length;
    if (steps > CHARGED_STEPS) {
      call.charge(steps * FUEL_PER_STEP);
      steps = 0;
    }
  }
  call.charge(steps * FUEL_PER_STEP);
  return active.length > 0 && entered[accepting] === round;
}

const CHARGED_STEPS = 1_000;

/** Adds a state and all that it leads to without a character. */
function enter(
  states: readonly State[],
  first: number,
  active: number[],
  entered: Int32Array,
  round: number,
): void {
  const open = [first];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (entered[at] === round) continue;
    entered[at] = round;
    active.push(at);
    const state = states[at];
    if (state && 'jump' in state) open.push(...state.jump);
  }
}

function findPieces(nodes: readonly GlobNode[], stops: string): string[] | undefined {
  const pieces = [''];
  for (const node of nodes) {
    if (node.kind === 'text') pieces.push((pieces.pop() as string) + node.text);
    else if (node.kind === 'star' && !(node.stops && stops !== '')) pieces.push('');
    else return undefined;
  }
  return pieces;
}

/** The first piece begins the text, the last ends it, the others follow each other between. */
function hasPieces(pieces: readonly string[], text: string): boolean {
  const first = pieces[0] as string;
  if (pieces.length === 1) return text === first;
  const last = pieces.at(-1) as string;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  let from = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const at = text.indexOf(piece, from);
    if (at < 0) return false;
    from = at + piece.length;
  }
  return from + last.length <= text.length;
}
