import { INBOUND_CLASSES, type InboundClass } from '@governance/shared/detect/findings';
import { CLASS_FEATURES } from '@governance/shared/detect/inbound/class-model';
import { createRandom } from './random.ts';

export interface ClassedFeatures {
  readonly features: readonly number[];
  readonly class: InboundClass;
}

const EPOCHS = 4;
const RATE = 0.1;
const PULL = 0.0001;
/** Units of a weight. */
const UNIT = 1 / 32;

/** A multinomial logistic regression; classes with more texts do not weigh more. */
export function trainClasses(passages: readonly ClassedFeatures[], seed: number): Int8Array {
  const count = INBOUND_CLASSES.length;
  const weights = new Float64Array(count * CLASS_FEATURES);
  const squares = new Float64Array(weights.length).fill(0.2);
  const worth = INBOUND_CLASSES.map((name) => {
    const own = passages.filter((passage) => passage.class === name).length;
    return own === 0 ? 0 : Math.min(4, Math.sqrt(passages.length / count / own));
  });
  const random = createRandom(seed);
  for (let epoch = 0; epoch < EPOCHS; epoch += 1) {
    for (const { features, class: name } of random.shuffle(passages)) {
      const sums = INBOUND_CLASSES.map((_, at) => {
        let sum = 0;
        for (const feature of features) sum += weights[at * CLASS_FEATURES + feature] as number;
        return sum;
      });
      const highest = Math.max(...sums);
      const powers = sums.map((sum) => Math.exp(sum - highest));
      const total = powers.reduce((all, power) => all + power, 0);
      const right = INBOUND_CLASSES.indexOf(name);
      for (let at = 0; at < count; at += 1) {
        const error =
          ((powers[at] as number) / total - (at === right ? 1 : 0)) * (worth[right] as number);
        for (const feature of features) {
          const place = at * CLASS_FEATURES + feature;
          const weight = weights[place] as number;
          const gradient = error + PULL * weight;
          squares[place] = (squares[place] as number) + gradient * gradient;
          weights[place] = weight - (RATE * gradient) / Math.sqrt(squares[place] as number);
        }
      }
    }
  }
  return Int8Array.from(weights, (weight) =>
    Math.max(-128, Math.min(127, Math.round(weight / UNIT))),
  );
}
