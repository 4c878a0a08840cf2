import { visible } from '../canonical/visible.ts';
import { isAuditor } from '../identity/auditor.ts';

interface Person {
  readonly name: string;
  readonly kind: 'human' | 'agent';
  readonly status: 'active' | 'revoked';
  readonly roles: readonly string[];
  readonly credentials: readonly {
    readonly kind: 'key' | 'passkey';
    readonly status: 'active' | 'revoked';
  }[];
}

/**
 * What to say where one human can act and has one credential: once that is lost, no signature is possible and no command gives it back.
 * Null where there is another credential, or another human who can add one.
 */
export function loneCredentialWords(people: readonly Person[]): string | null {
  const able = people
    .filter((one) => one.kind === 'human' && one.status === 'active' && !isAuditor(one))
    .flatMap(({ name, credentials }) =>
      credentials.filter(({ status }) => status === 'active').map(({ kind }) => ({ name, kind })),
    );
  const [only, ...others] = able;
  if (!only || others.length > 0) return null;
  const add =
    only.kind === 'passkey'
      ? 'Add a passkey of another device: `keyturn serve`, then People in the console'
      : 'Add one and keep its file elsewhere: keyturn credential add --label recovery --reason "a second one"';
  return `${visible(only.name)} alone can sign, with one credential. If it is lost, nothing can be signed here any more. ${add}`;
}
