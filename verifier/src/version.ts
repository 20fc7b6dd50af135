/** The version of the verifier and its routes, independent of the service's. */
export const VERIFIER_VERSION = '0.1.0';
