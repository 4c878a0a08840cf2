/** What a program imports from `keyturn`. The entry points of this package take the rest from `keyturn.ts`. */
export type {
  Account,
  Capability,
  Draft,
  Entry,
  Face,
  Finder,
  FinderPacket,
  FinderRequest,
  InitOptions,
  IntentState,
  NamedCaller,
  OpenOptions,
  Passphrase,
  Proof,
  ReasonCode,
  Request,
  Result,
  Signer,
  StatusWord,
  VerbName,
} from './keyturn.ts';
export { explain, isReasonCode, Keyturn, Refusal, reasonCodes, VERSION } from './keyturn.ts';
