import { nameFeature } from '@governance/shared/detect/inbound/scoring';

/**
 * The model's initial weights, set by hand, under the names of scoring.ts. Training moves weights
 * away from these only as far as the texts demand, so that pairs of concepts that occur in none of
 * our texts keep a sensible weight.
 */
export const FIRST_BIAS = -5;

export const FIRST_WEIGHTS: Readonly<Record<string, number>> = {
  override: 0.8,
  instructions: 0.3,
  ai: 1,
  'the-user': 0.6,
  secrecy: 1.6,
  unconfirmed: 1.2,
  secret: 0.5,
  'system-prompt': 1,
  send: 0.3,
  reveal: 0.3,
  recipient: 0.7,
  destroy: 0.4,
  role: 1,
  persona: 1,
  'from-now': 0.7,
  authority: 0.3,
  approved: 0.4,
  access: 0.3,
  grant: 0.3,
  urgent: 0.4,
  threat: 0.3,
  heed: 0.4,
  reply: 1.2,
  decode: 0.6,
  obey: 0.9,
  assurance: 0.5,
  safeguard: 0.4,
  remember: 0.6,
  hidden: 1.2,
  'sensitive-path': 0.8,
  shell: 0.4,
  marker: 2,
  decoded: 2.5,
  disguised: 1.5,
  'tool-name': 0.8,
  'opens-with-order': 0.3,
  'security-talk': -1.2,
  quoting: -0.6,
  quoted: -0.5,
  manual: -0.5,
  letter: -0.7,
  legal: -0.8,
  narrative: -0.6,
  never: -0.5,
  people: -0.6,
  'tool-doc': -0.6,
  may: -0.4,
  question: -0.4,
  'near security-talk': -0.6,
  'near letter': -0.3,
  'near ai': 0.5,
  'near marker': 0.8,
  'near secrecy': 0.6,
  'throughout security-talk': -1.5,
  'throughout test-data': -0.5,
  'mentioned security-talk': -0.7,
  'mentioned test-data': -0.3,
  'throughout quoting': -0.4,
  'throughout legal': -0.6,
  'throughout narrative': -0.3,
  'throughout manual': -0.3,
  'override with instructions': 2.2,
  'override with previous': 1,
  'override with safeguard': 0.8,
  'reveal with system-prompt': 1.5,
  'send with secret': 0.9,
  'send with recipient': 0.8,
  'send with address': 0.8,
  'send with link': 0.4,
  'secret with link': 0.6,
  'secret with address': 0.6,
  'ai with must': 0.6,
  'ai with execute': 0.4,
  'ai with send': 0.6,
  'ai with obey': 0.8,
  'ai with instructions': 0.5,
  'secrecy with send': 0.8,
  'secrecy with the-user': 0.8,
  'unconfirmed with execute': 0.6,
  'unconfirmed with destroy': 0.8,
  'unconfirmed with send': 0.8,
  'unconfirmed with approved': 0.6,
  'authority with approved': 0.8,
  'approved with unconfirmed': 0.8,
  'approved with access': 0.4,
  'grant with access': 0.6,
  'access with you': 0.5,
  'role with persona': 1.6,
  'role with ai': 0.8,
  'you with persona': 0.8,
  'role with from-now': 0.8,
  'from-now with instructions': 0.6,
  'from-now with persona': 1.8,
  'ai with from-now': 0.6,
  'ai with persona': 1,
  'you with from-now': 0.6,
  'urgent with execute': 0.3,
  'urgent with unconfirmed': 0.8,
  'urgent with threat': 0.5,
  'reply with send': 0.5,
  'reply with reveal': 0.5,
  'reply with secret': 0.8,
  'reply with execute': 0.5,
  'obey with instructions': 0.5,
  'decode with obey': 1.2,
  'marker with override': 1,
  'marker with you': 0.8,
  'decoded with override': 1.5,
  'decoded with send': 1,
  'decoded with secret': 1,
  'decoded with reveal': 1,
  'hidden with ai': 1.2,
  'hidden with send': 0.8,
  'hidden with override': 1.2,
  'ai with security-talk': -1,
  'override with security-talk': -1.2,
  'quoted with security-talk': -1,
  'quoted with quoting': -1.2,
};

/**
 * How far an ordinary concept's own weight may rise: some words of its list also occur in attacks.
 */
const ORDINARY_RISE = 0.5;

/**
 * The weights above are relative to each other. Beside the sums of hashed features, the signs of an
 * attack count twice as much.
 */
const RAISED = 2;

export function firstWeightOf(name: string): number {
  const weight = FIRST_WEIGHTS[name] ?? 0;
  return weight > 0 ? weight * RAISED : weight;
}

/** Concepts that hardly occur in benign texts, or only in those that the lists below recognise. */
const TELLING = new Set(
  `override secrecy unconfirmed system-prompt recipient role persona from-now ai the-user authority
  approved urgent threat reply decode obey assurance safeguard remember hidden address tool-name
  sensitive-path shell marker decoded disguised destroy money access secret`.split(/\s+/),
);
/** Signs of an ordinary text: never a reason for suspicion. */
const ORDINARY = new Set(
  `security-talk test-data quoting manual letter legal narrative never we please people tool-doc may
  quoted identifier question`.split(/\s+/),
);

/**
 * How far a weight may rise above the initial one: the generated texts have too few ordinary ones
 * to prove that a pair of common words indicates an attack, however often it occurs in attacks
 * here.
 */
export function riseOf(feature: number): number {
  const name = nameFeature(feature);
  const isNear = name.includes('near ');
  const concepts = name.replace(/^(near|throughout|mentioned) /, '').split(/ with | near /);
  if (concepts.some((concept) => ORDINARY.has(concept))) {
    return concepts.length === 1 && !isNear ? ORDINARY_RISE : 0;
  }
  const telling = concepts.filter((concept) => TELLING.has(concept)).length;
  if (concepts.length === 1) return telling === 1 ? (isNear ? 0.4 : 0.8) : 0.1;
  return ([0.3, 1, 2][telling] as number) * (isNear ? 0.6 : 1);
}

/** The bluntest attacks say nothing else: honest texts that quote them are told by other signs. */
const BLUNT_FALL = 0.3;

/**
 * How far a weight may fall: ordinary sentences around an attack must not excuse it, or an attacker
 * would add some.
 */
export function fallOf(feature: number): number {
  const name = nameFeature(feature);
  if (firstWeightOf(name) > 0) return BLUNT_FALL;
  if (name.startsWith('throughout ') || name.startsWith('mentioned ')) return 0.3;
  if (name.includes('quoted') && !name.includes('near ')) return name.includes(' with ') ? 3 : 1.5;
  if (name.includes('near ')) return name.includes('security-talk') ? 0.8 : 0.25;
  return name.includes(' with ') ? 2 : 1;
}
