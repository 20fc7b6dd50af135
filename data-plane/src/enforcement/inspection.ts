import { pipeline } from './pipeline-builder.ts';
import type { Said } from './said.ts';
import { inTurns } from './scan-turns.ts';
import { type AudienceDeps, checkAudience } from './steps/audience.ts';
import { type SaidDlpDeps, scanSaid } from './steps/dlp-said.ts';
import { checkForm, type FormDeps } from './steps/form.ts';
import { type InjectionDeps, scanForInjection } from './steps/injection.ts';
import { coverOwnCodes } from './steps/own-codes.ts';
import { hideWaitingTools, type PinsDeps } from './steps/pins.ts';
import { judgeQuestions, type QuestionDeps } from './steps/questions.ts';

export type InspectionDeps = FormDeps &
  AudienceDeps &
  QuestionDeps &
  InjectionDeps &
  SaidDlpDeps &
  PinsDeps;

// Everything from a server or a client passes these steps. The reason for each position is in
// docs/enforcement-order.md.
export const inspection = pipeline<Said, InspectionDeps>()
  .step('form', checkForm)
  .step('audience', checkAudience)
  .step('own-codes', coverOwnCodes)
  .step('questions', judgeQuestions)
  .step('injection', inTurns(scanForInjection))
  .step('dlp', scanSaid)
  .step('pins', hideWaitingTools);
