/**
 * A decision in plain words: which rules held, and which condition of each other rule failed. Made
 * from the steps of OPA's interpreter (policies/compiler/rego/steps.go).
 */
import type { PolicyVerdict, RuleStep } from './contract.ts';

const MAX_SENTENCES = 100;
const DECISION_RULES = new Set(['deny', 'escalate', 'allow']);

const SAID = {
  deny: 'The call is denied',
  escalate: 'The call is held for a person',
  allow: 'The call is allowed',
};

/**
 * @param names of the policies, by id
 * @returns one sentence on the decision, then one per rule, deciding rules first
 */
export function describeDecision(
  verdict: PolicyVerdict,
  steps: readonly RuleStep[],
  names: ReadonlyMap<string, string>,
): string[] {
  const decisive = steps.filter(({ rule, holds }) => holds && rule === verdict.decision);
  const sentences = [
    describeVerdict(verdict),
    ...decisive.map((step) => describeStep(step, names)),
    ...steps
      .filter((step) => !decisive.includes(step) && isTelling(step))
      .map((step) => describeStep(step, names)),
  ];
  if (sentences.length <= MAX_SENTENCES) return sentences;
  const left = sentences.length - MAX_SENTENCES;
  return [...sentences.slice(0, MAX_SENTENCES), `${left} more rules are left out.`];
}

/** A helper that holds adds nothing to the failed rule that used it. */
function isTelling({ rule, holds }: RuleStep): boolean {
  return DECISION_RULES.has(rule) || !holds;
}

export function describeVerdict({ decision, reasons }: PolicyVerdict): string {
  const [first] = reasons;
  if (first?.policy_id === '') return `${SAID[decision]}: ${first.message}.`;
  const why = reasons.map(({ policy, message }) => `${policy}: ${message}`).join('; ');
  return why === '' ? `${SAID[decision]}.` : `${SAID[decision]}: ${why}.`;
}

function describeStep(step: RuleStep, names: ReadonlyMap<string, string>): string {
  const { policy_id: id, rule, row, holds, condition, condition_row: conditionRow } = step;
  const subject = `${names.get(id) ?? id}: the rule ${rule} (line ${row})`;
  if (holds) return `${subject} holds.`;
  if (!condition) return `${subject} does not hold.`;
  return `${subject} does not hold, since ${condition} (line ${conditionRow}) is false or undefined.`;
}
