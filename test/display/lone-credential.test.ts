import { describe, expect, it } from 'vitest';
import { loneCredentialWords } from '../../src/display/lone-credential.ts';

type Person = Parameters<typeof loneCredentialWords>[0][number];

const key = { kind: 'key', status: 'active' } as const;
const passkey = { kind: 'passkey', status: 'active' } as const;
const gone = { kind: 'key', status: 'revoked' } as const;
const person = (name: string, credentials: Person['credentials'], more: Partial<Person> = {}): Person => ({
  ...{ name, kind: 'human', status: 'active', roles: [], credentials, ...more },
});

describe('one human with one credential', () => {
  it('is told which command adds a second one', () => {
    expect(loneCredentialWords([person('ada', [key])])).toBe(
      'ada alone can sign, with one credential. If it is lost, nothing can be signed here any more. ' +
        'Add one and keep its file elsewhere: keyturn credential add --label recovery --reason "a second one"',
    );
    expect(loneCredentialWords([person('ada', [gone, passkey])])).toContain('a passkey of another device');
  });

  it('is not helped by whoever cannot act: agents, auditors, the revoked, and who lost all', () => {
    const others = [
      person('bot', [key], { kind: 'agent' }),
      person('eve', [key], { roles: ['auditor'] }),
      person('mallory', [key], { status: 'revoked' }),
      person('bob', [gone]),
    ];
    expect(loneCredentialWords([person('ada', [key]), ...others])).toContain('ada alone');
  });

  it('is nothing to say where another credential or human can act', () => {
    expect(loneCredentialWords([person('ada', [key, passkey])])).toBe(null);
    expect(loneCredentialWords([person('ada', [key]), person('bob', [passkey])])).toBe(null);
  });
});
