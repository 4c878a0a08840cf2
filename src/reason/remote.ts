import type { Reason } from './reason.ts';

/** Why a command that asks a service elsewhere is not allowed to go on. */
export const remotePermissionReasons = {
  LOGIN_MISSING: [
    3500,
    'This account has no valid login at the service.',
    'Run `keyturn login --service URL --as NAME --key FILE`.',
  ],
  ACT_OTHER: [
    3501,
    'The service asks for a signature on something other than what was shown.',
    'Nothing was signed. Do not use this service until you know why.',
  ],
  LEDGER_OTHER: [
    3502,
    'The service has another ledger than the one that this account logged in to.',
    'Look at the address. If the ledger was really replaced, run `keyturn logout`, then `keyturn login`, and compare its key.',
  ],
} as const satisfies Record<string, Reason>;

/** What is wrong between this machine and a service elsewhere. */
export const remoteDependencyReasons = {
  SERVICE_UNREACHABLE: [
    4250,
    'The service does not answer.',
    'Look at the address, and whether `keyturn serve` runs there. Where the connection broke half way, what was sent may have arrived: look before you send it again.',
  ],
  SERVICE_TLS: [
    4251,
    'The connection to the service is not one that can be trusted.',
    'Look at the certificate of the service. For an authority of your own, set NODE_EXTRA_CA_CERTS.',
  ],
  SERVICE_FOREIGN: [
    4252,
    'What answers is no Keyturn service, or one of another version.',
    'Look at the address, and at `keyturn --version` on both sides.',
  ],
  CLOCKS_DIFFER: [
    4253,
    'The clock of this machine and that of the service differ too much.',
    'Set the clock that is wrong. Nothing was signed.',
  ],
} as const satisfies Record<string, Reason>;
