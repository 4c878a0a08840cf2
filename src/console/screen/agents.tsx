import { useState } from 'preact/hooks';
import { sha256 } from '../../canonical/digest.ts';
import { useApp, useTold } from '../app.ts';
import { reasoned } from '../gesture.ts';
import { List, PageFrame } from '../part/page.tsx';
import { SignedAct } from '../part/signed-act.tsx';
import { dayOf, span } from '../words.ts';

/** Agents only propose. A token shows the service who asks; its secret is made here, and only its digest is sent. */
function Agents(_: { readonly id: string }) {
  const { api } = useApp();
  const told = useTold(
    () => Promise.all([api.people.list(), api.agents.tokens()]),
    [],
    ({ kind }) => /^(key|token|credential)\./.test(kind),
  );
  return (
    <PageFrame
      title="Agents"
      told={told}
      lead={<span>Agents propose, and do what a human delegated to their key. They approve nothing.</span>}
    >
      {([{ principals }, { tokens }]) => {
        const agents = principals.filter(({ kind }) => kind === 'agent');
        return agents.length === 0 ? (
          <p class="dim">
            No agent is enrolled. <code>keyturn identity add NAME --agent --token</code>
          </p>
        ) : (
          agents.map(({ name, status, credentials, enrolled_at }) => (
            <section class="deed" key={name}>
              <header>
                <h2>
                  <bdi>{name}</bdi>
                </h2>
                <span class="note">
                  {status === 'revoked'
                    ? 'revoked'
                    : credentials.length > 0
                      ? 'has a key: what it signs is proven'
                      : 'no key: by name only'}
                  , since {dayOf(enrolled_at)}
                </span>
              </header>
              <div class="inset">
                <List
                  none="No token."
                  items={tokens
                    .filter((one) => one.name === name)
                    .map((one) => (
                      <>
                        <div>
                          <code>{one.token_id.slice(0, 8)}</code>
                          <p>
                            Added {dayOf(one.added_at)} by <bdi>{one.added_by}</bdi>,{' '}
                            {one.last_used_at
                              ? `last used ${span(Date.now() - Date.parse(one.last_used_at))} ago`
                              : 'never used'}
                          </p>
                        </div>
                        <span class="end">{one.status === 'revoked' ? 'revoked' : ''}</span>
                        {one.status === 'active' && (
                          <SignedAct
                            small
                            text="Revoke…"
                            look="stop"
                            subject={one.token_id}
                            doing="revoke this token"
                            done="Revoked."
                            command={`keyturn token revoke ${name} ${one.token_id.slice(0, 8)}`}
                            ask={(reason) =>
                              reasoned(
                                'agents.revokeToken',
                                'token.revoked',
                                name,
                                { name, token_id: one.token_id, reason },
                                { leave: ['name'] },
                              )
                            }
                          />
                        )}
                      </>
                    ))}
                />
                {status === 'active' && <NewToken name={name} />}
              </div>
            </section>
          ))
        );
      }}
    </PageFrame>
  );
}

function NewToken({ name }: { readonly name: string }) {
  const [token] = useState(
    () => `ktk1.${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url')}.${name}`,
  );
  const [shown, setShown] = useState(false);
  return (
    <>
      {shown && (
        <div class="banner warn">
          <p>
            <b>Shown only now.</b> Give it to the agent: <code class="command">{token}</code>
          </p>
        </div>
      )}
      {!shown && (
        <SignedAct
          small
          text="New token…"
          subject={`token ${name}`}
          doing={`give ${name} a token`}
          done="The token holds."
          command={`keyturn token add ${name}`}
          onDone={() => setShown(true)}
          ask={(reason) =>
            reasoned(
              'agents.addToken',
              'token.added',
              name,
              { name, digest: sha256(token), reason },
              { leave: ['name'], free: ['token_id'] },
            )
          }
        />
      )}
    </>
  );
}

export const screens = { agents: Agents };
