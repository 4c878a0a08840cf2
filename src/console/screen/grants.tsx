import { visible } from '../../canonical/visible.ts';
import { useApp, useTold } from '../app.ts';
import { reasoned } from '../gesture.ts';
import { List, PageFrame } from '../part/page.tsx';
import { SignedAct } from '../part/signed-act.tsx';
import { dayOf, plural, span } from '../words.ts';
import { GrantForm } from './grant-form.tsx';

/** What people let others do, and which orders are open. */
function Grants(_: { readonly id: string }) {
  const { api } = useApp();
  const told = useTold(
    () => Promise.all([api.agents.delegations(), api.runs.capabilities({ limit: 50 })]),
    [],
    () => true,
  );
  return (
    <PageFrame title="Grants" told={told}>
      {([{ delegations }, { capabilities }]) => {
        const now = Date.now();
        const open = capabilities.filter(
          ({ status_word }) => status_word === 'ordered' || status_word === 'issued',
        );
        return (
          <>
            <GrantForm />
            <h2 class="head">Grants and delegations</h2>
            <List
              none="No delegations."
              items={delegations
                .toReversed()
                .map(({ delegation_id, delegate, actions, approves, grant, expires_at, status, chain }) => {
                  const over = status !== 'active' || Date.parse(expires_at) <= now;
                  return (
                    <>
                      <div>
                        <b>
                          <bdi>{delegate}</bdi>
                        </b>{' '}
                        may submit <code>{actions.join(', ')}</code>
                        <p>
                          {grant && `${plural(grant.uses, 'time')} at most. `}
                          {approves ? 'It counts as approved.' : 'A human still approves each.'} From{' '}
                          {chain.join(' to ')}.
                        </p>
                      </div>
                      <span class="end">
                        {status !== 'active'
                          ? 'revoked'
                          : over
                            ? 'over'
                            : Date.parse(expires_at) - now < 86_400_000
                              ? `${span(Date.parse(expires_at) - now)} left`
                              : `until ${dayOf(expires_at)}`}
                      </span>
                      {!over && (
                        <SignedAct
                          small
                          text="Revoke…"
                          look="stop"
                          subject={delegation_id}
                          doing="revoke this delegation"
                          done="Revoked."
                          ask={(reason) =>
                            reasoned(
                              'agents.revokeDelegation',
                              'delegation.revoked',
                              delegation_id,
                              { delegation_id, reason },
                              { leave: ['delegation_id'] },
                            )
                          }
                        />
                      )}
                    </>
                  );
                })}
            />
            <h2 class="head">Open orders</h2>
            <List
              none="No order is open."
              items={open.map(({ capability_id, intent_id, tool, by, lapses_at, status_word }) => (
                <>
                  <div>
                    <a href={`#/story/${intent_id}`}>
                      <bdi>{visible(tool)}</bdi>
                    </a>
                    <p>
                      Ordered by <bdi>{by}</bdi>
                    </p>
                  </div>
                  <span class="end">
                    {status_word}, lapses in {span(Date.parse(lapses_at) - now)}
                  </span>
                  <SignedAct
                    small
                    text="Revoke…"
                    look="stop"
                    subject={capability_id}
                    doing="revoke this order"
                    done="Revoked."
                    ask={(reason) =>
                      reasoned('runs.revokeCapability', 'capability.revoked', intent_id, {
                        capability_id,
                        reason,
                      })
                    }
                  />
                </>
              ))}
            />
          </>
        );
      }}
    </PageFrame>
  );
}

export const screens = { grants: Grants };
