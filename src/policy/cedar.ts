import type * as Cedar from '@cedar-policy/cedar-wasm/nodejs';

export type CedarEngine = typeof Cedar;
export type CedarAnswer = Cedar.AuthorizationAnswer;
export type CedarCall = Cedar.StatefulAuthorizationCall;
export type CedarPolicy = Cedar.PolicyJson;
export type CedarFinding = Cedar.ValidationError;
export type CedarProblem = Cedar.DetailedError;

/** Four megabytes of WebAssembly: loaded only by who asks the rules. */
export async function loadCedar(): Promise<CedarEngine> {
  return import('@cedar-policy/cedar-wasm/nodejs');
}
