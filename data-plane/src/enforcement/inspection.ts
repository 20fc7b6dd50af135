import { pipeline } from './pipeline-builder.ts';
import type { ReceivedMessage } from './received-message.ts';
import { inTurns } from './scan-turns.ts';
import { type AudienceDeps, checkAudience } from './steps/audience.ts';
import { type ReceivedDlpDeps, scanReceived } from './steps/dlp-received.ts';
import { checkForm, type FormDeps } from './steps/form.ts';
import { type InjectionDeps, scanForInjection } from './steps/injection.ts';
import { coverOwnCodes } from './steps/own-codes.ts';
import { hideWaitingTools, type PinsDeps } from './steps/pins.ts';
import { judgeQuestions, type QuestionDeps } from './steps/questions.ts';

export type InspectionDeps = FormDeps &
  AudienceDeps &
  QuestionDeps &
  InjectionDeps &
  ReceivedDlpDeps &
  PinsDeps;

// Everything from a server or a client passes these steps. The reason for each position is in
// docs/enforcement-order.md.
export const inspection = pipeline<ReceivedMessage, InspectionDeps>()
  .step('form', checkForm)
  .step('audience', checkAudience)
  .step('own-codes', coverOwnCodes)
  .step('questions', judgeQuestions)
  .step('injection', inTurns(scanForInjection))
  .step('dlp', scanReceived)
  .step('pins', hideWaitingTools);
