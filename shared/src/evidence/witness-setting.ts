import { z } from 'zod';
import { commaList, webAddress } from '../settings.ts';
import { parseWitnessKey } from './witness-protocol.ts';

/** With more, each interval would be spent on asking. */
const MAX_WITNESSES = 20;

/** The form of the setting: pairs of a verifier key and an address, separated by commas. */
export const witnessList = commaList.transform((entries, context) => {
  try {
    const witnesses = entries.map((entry) => {
      const [vkey = '', url = '', ...rest] = entry.split(/ +/);
      const prefix = webAddress.parse(url).replace(/\/+$/, '');
      if (rest.length > 0) throw new SyntaxError('must be pairs of key and address');
      return { ...parseWitnessKey(vkey), url: prefix };
    });
    const names = new Set(witnesses.map(({ name }) => name));
    if (names.size === witnesses.length && names.size <= MAX_WITNESSES) return witnesses;
    context.addIssue(`must name at most ${MAX_WITNESSES} witnesses, each once`);
  } catch (error) {
    const why = error instanceof SyntaxError ? error.message : 'must have an http or https address';
    context.addIssue(`each is a verifier key, a blank and an address: one ${why}`);
  }
  return z.NEVER;
});
