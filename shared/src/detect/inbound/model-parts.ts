/** The two large parts of the model, each as Brotli: files beside model.json. */
export const WORDING_FILE = 'shared/inbound-model/wording.br';
export const SEQUENCE_FILE = 'shared/inbound-model/sequence.br';
