import type * as Cedar from '@cedar-policy/cedar-wasm/nodejs';

export type CedarEngine = typeof Cedar;
export type CedarAnswer = Cedar.AuthorizationAnswer;
export type CedarCall = Cedar.StatefulAuthorizationCall;
export type CedarPolicy = Cedar.PolicyJson;
export type CedarFinding = Cedar.ValidationError;
export type CedarProblem = Cedar.DetailedError;

/** Four megabytes of WebAssembly: loaded only by who asks the rules. */
export async function loadCedar(): Promise<CedarEngine> {
  if (v8Major() <= LAST_V8_THAT_ABORTS) {
    const { setFlagsFromString } = await import('node:v8');
    setFlagsFromString('--no-turbo-inline-js-wasm-calls');
  }
  return import('@cedar-policy/cedar-wasm/nodejs');
}

/**
 * V8 up to 12 aborts the process when it drops optimised JavaScript while a WebAssembly function that was inlined into it runs, and
 * that function returns a reference. Those of Cedar do. docs/dependencies.md tells more.
 */
const LAST_V8_THAT_ABORTS = 12;

function v8Major(): number {
  return Number.parseInt(process.versions.v8, 10);
}
