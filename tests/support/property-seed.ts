/**
 * One seed for every property test of a run, so that failures are reproducible. Another run of the
 * same commit tries the same cases; PROPERTY_SEED=random, or a number, tries others.
 */
import fc from 'fast-check';

const DEFAULT_SEED = 20_261_121;

const given = process.env.PROPERTY_SEED;
const seed = given === 'random' ? Date.now() : Number(given ?? DEFAULT_SEED);
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
