/**
 * The paths of the local model runtime that are served (specification 2, section 4); no others are.
 */
import type { ModelMethod } from '../enforcement/call/call-kinds.ts';

/** Whose API style a path follows: the runtime's own, or OpenAI's. */
export type ModelStyle = 'native' | 'openai';

export interface ModelApi {
  /** The runtime's path; this service's is the same below `MODEL_PREFIX`. */
  readonly path: string;
  readonly method: ModelMethod;
  readonly style: ModelStyle;
}

export const MODEL_PREFIX = '/api/v1/localmodel';

/** Where the paths of a style are, at the runtime and below `MODEL_PREFIX`. */
export const STYLE_FOLDERS: Record<ModelStyle, string> = { native: '/api', openai: '/v1' };

export const MODEL_APIS: readonly ModelApi[] = [
  { path: '/api/chat', method: 'localmodel/chat', style: 'native' },
  { path: '/api/generate', method: 'localmodel/generate', style: 'native' },
  { path: '/api/tags', method: 'localmodel/models', style: 'native' },
  { path: '/v1/chat/completions', method: 'localmodel/chat', style: 'openai' },
  { path: '/v1/models', method: 'localmodel/models', style: 'openai' },
];

/** Whether an API lists models: the runtime is then asked without a body. */
export function listsModels({ method }: Pick<ModelApi, 'method'>): boolean {
  return method === 'localmodel/models';
}
