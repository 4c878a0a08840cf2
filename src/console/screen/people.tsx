import { visible } from '../../canonical/visible.ts';
import { useApp, useMe, useTold } from '../app.ts';
import { pageHeader } from '../enter.ts';
import { reasoned } from '../gesture.ts';
import { Tag } from '../part/icon.tsx';
import { List, PageFrame } from '../part/page.tsx';
import { SignedAct } from '../part/signed-act.tsx';
import { dayOf } from '../words.ts';
import { Enrol } from './enrol.tsx';
import { Invite } from './invite.tsx';

const ASSURANCE: Readonly<Record<string, string>> = {
  key_file: 'Key file',
  synced_passkey: 'Passkey, synced',
  device_bound_passkey: 'Passkey, bound to its device',
};

/** Ends the session of this browser, and shows what a browser without one sees. */
async function logOut(): Promise<void> {
  await fetch('/v1/session', { method: 'DELETE', headers: pageHeader() });
  location.reload();
}

/** Who may speak, and what they sign with. */
function People(_: { readonly id: string }) {
  const { api } = useApp();
  const { name } = useMe();
  const told = useTold(
    () => Promise.all([api.people.list(), api.people.credentials({})]),
    [],
    ({ kind }) => /^(key|credential|role)\./.test(kind),
  );
  return (
    <PageFrame
      title="People"
      told={told}
      lead={
        <>
          <span>Every act of a human is signed by one of these credentials.</span>{' '}
          <button type="button" class="act small" onClick={() => void logOut()}>
            Log out of this browser
          </button>
        </>
      }
    >
      {([{ principals }, { credentials }]) => {
        const humans = principals.filter(({ kind }) => kind === 'human');
        return (
          <>
            {humans.map((person) => (
              <section class="deed" key={person.name}>
                <header>
                  <h2>
                    <bdi>{person.name}</bdi>
                    {person.name === name && ' (you)'}
                  </h2>
                  <span class="note">
                    {person.status === 'revoked' ? 'revoked' : person.roles.join(', ')}
                  </span>
                </header>
                <div class="inset">
                  <List
                    none="No credential."
                    items={credentials
                      .filter((one) => one.name === person.name)
                      .map((one) => (
                        <>
                          <div>
                            <b>{visible(one.label)}</b>{' '}
                            <Tag tone={one.assurance === 'device_bound_passkey' ? 'ok' : 'plain'}>
                              {ASSURANCE[one.assurance]}
                            </Tag>
                            <p>
                              Added {dayOf(one.added_at)} by <bdi>{one.added_by}</bdi>
                              {one.passkey && (
                                <>
                                  , for <code>{one.passkey.origins.join(', ')}</code>
                                </>
                              )}
                            </p>
                          </div>
                          <span class="end">{one.status === 'revoked' ? 'revoked' : ''}</span>
                          {one.status === 'active' && person.status === 'active' && (
                            <SignedAct
                              small
                              text="Revoke…"
                              look="stop"
                              subject={one.public_key}
                              doing={`revoke “${one.label}”`}
                              done="Revoked."
                              command={`keyturn credential revoke ${person.name}`}
                              ask={(reason) =>
                                reasoned(
                                  'people.revokeCredential',
                                  'credential.revoked',
                                  person.name,
                                  { name: person.name, public_key: one.public_key, reason },
                                  { leave: ['name'] },
                                )
                              }
                            />
                          )}
                        </>
                      ))}
                  />
                </div>
              </section>
            ))}
            <Enrol />
            <Invite />
          </>
        );
      }}
    </PageFrame>
  );
}

export const screens = { people: People };
