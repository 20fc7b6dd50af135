import { pipeline } from './call/pipeline-builder.ts';
import type { ReceivedMessage } from './call/received-message.ts';
import { type AudienceDeps, checkAudience } from './steps/audience.ts';
import { type ReceivedDlpDeps, scanReceived } from './steps/dlp-received.ts';
import { checkForm, type FormDeps } from './steps/form.ts';
import { type InjectionDeps, scanForInjection } from './steps/injection.ts';
import { coverOwnCodes } from './steps/own-codes.ts';
import { hideWaitingTools, type PinsDeps } from './steps/pins.ts';
import { judgeQuestions, type QuestionDeps } from './steps/questions.ts';
import { inTurns } from './turns/scan-turns.ts';

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
