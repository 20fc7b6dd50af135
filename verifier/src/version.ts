/** Of the verifier and its routes, which change by themselves. */
export const VERIFIER_VERSION = '0.1.0';
