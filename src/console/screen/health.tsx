import { useEffect } from 'preact/hooks';
import { visible } from '../../canonical/visible.ts';
import { loneCredentialWords } from '../../display/lone-credential.ts';
import { hasNoExecutor, isUnserved, type WaitsFor } from '../../display/unserved.ts';
import type { Result } from '../../keyturn.ts';
import { useApp, useTold } from '../app.ts';
import { useCell } from '../cell.ts';
import { reasoned } from '../gesture.ts';
import { Icon } from '../part/icon.tsx';
import { List, PageFrame } from '../part/page.tsx';
import { SignedAct } from '../part/signed-act.tsx';
import { clockOf, dayOf, plural, shadowWords } from '../words.ts';

const LOOK_MS = 10_000;

/** What needs a human, and whether the service can work. */
function Health(_: { readonly id: string }) {
  const { api, world } = useApp();
  const lone = loneCredentialWords(useCell(world).people);
  const told = useTold(
    () => Promise.all([api.system.status(), api.system.get(), ready()]),
    [],
    () => true,
  );
  const { again } = told;
  // An executor that is gone leaves no entry.
  useEffect(() => {
    const timer = setInterval(again, LOOK_MS);
    return () => clearInterval(timer);
  }, [again]);
  return (
    <PageFrame title="Health" told={told}>
      {([status, { executors, control_keys }, reasons]) => {
        const waits = unservedWords(status.approved.map(({ waits_for }) => waits_for));
        const doubts = status.in_doubt.filter(({ status_word }) => status_word === 'IN DOUBT');
        const rows: readonly (readonly [string, boolean, string])[] = [
          ['Service', reasons.length === 0, reasons.length === 0 ? 'Ready.' : reasons.join(', ')],
          ['Clock', status.clock === null, status.clock?.words ?? 'It fits the ledger.'],
          ['Policies', status.policies.same, status.policies.words ?? 'The files are what decides.'],
          [
            'Executors',
            waits === '',
            waits ||
              `${executors.filter(({ heard, revoked_at }) => heard?.is_running && !revoked_at).length} running.`,
          ],
          ['Credentials', lone === null, lone ?? 'More than one can sign.'],
          ['In doubt', doubts.length === 0, doubts.length === 0 ? 'No run.' : plural(doubts.length, 'run')],
          [
            'Stuck',
            status.stuck.length === 0,
            status.stuck.length === 0 ? 'No undo.' : plural(status.stuck.length, 'undo', 'undos'),
          ],
          [
            'Frozen',
            status.frozen.length === 0,
            status.frozen.length === 0 ? 'Nothing.' : plural(status.frozen.length, 'freeze'),
          ],
          [
            'Shadow mode',
            status.shadow.length === 0,
            status.shadow.length === 0
              ? 'No tool. Each call waits for a human, or for a grant.'
              : `Calls pass without an approval, and are recorded. ${shadowWords(status.shadow)} To end it, take mode: shadow out of keyturn.yaml and accept the server again: keyturn mcp accept SERVER.`,
          ],
        ];
        return (
          <>
            <ul class="steps">
              {rows.map(([name, ok, words]) => (
                <li>
                  <span class={`i ${ok ? 't-ok' : 't-danger'}`}>
                    <Icon name={ok ? 'ok' : 'tri'} />
                  </span>
                  <div>
                    <b>{name}</b>
                    <p>{words}</p>
                  </div>
                  <span class="took">{ok ? 'good' : 'look'}</span>
                </li>
              ))}
            </ul>
            {status.frozen.map(({ scope, name, by, at, reason }) => (
              <section class="deed" key={`${scope}${name}`}>
                <header>
                  <h2>Frozen: {scope === 'system' ? 'everything' : `${scope} ${visible(name)}`}</h2>
                  <span class="note">
                    since {dayOf(at)}, {clockOf(at)}, by {by}
                  </span>
                </header>
                <div class="inset">
                  <p>
                    “<bdi>{visible(reason)}</bdi>”
                  </p>
                  <SignedAct
                    text="Unfreeze…"
                    subject={`${scope}${name}`}
                    command={'keyturn unfreeze --reason "…"'}
                    doing="unfreeze it"
                    done="Unfrozen. What is ordered from now on runs."
                    ask={(reason) =>
                      reasoned(
                        'system.unfreeze',
                        'system.unfrozen',
                        'system',
                        { scope, ...(scope === 'system' ? {} : { name }), lifts: { by, at }, reason },
                        { fixed: { name, lifts: { by, at } } },
                      )
                    }
                  />
                </div>
              </section>
            ))}
            <h2 class="head">Executors</h2>
            <List
              none="No executor may run anything."
              items={executors.map(({ name, is_this_host, added_at, revoked_at, public_key, heard }) => (
                <>
                  <div>
                    <b>
                      <bdi>{name}</bdi>
                    </b>
                    {is_this_host && ' (this host)'}
                    <p>
                      <code>{public_key.slice(0, 16)}…</code> since {dayOf(added_at)}
                    </p>
                  </div>
                  <span class="end">{revoked_at ? 'revoked' : heardWords(heard)}</span>
                </>
              ))}
            />
            <p class="dim">
              {plural(
                control_keys.filter((one) => one.replaced_at === null && one.revoked_at === null).length,
                'control key',
              )}
              .
            </p>
          </>
        );
      }}
    </PageFrame>
  );
}

/** Which orders no executor takes, by the judgement of `keyturn status`; empty where there are none. */
function unservedWords(waiting: readonly WaitsFor[]): string {
  const words = (lacking: readonly WaitsFor[], what: string) => {
    const names = [...new Set(lacking.map(({ executor }) => visible(executor)))].join(', ');
    return lacking.length === 0 ? [] : [`Orders wait, and no executor called ${names} is ${what}.`];
  };
  return [
    ...words(waiting.filter(hasNoExecutor), 'enrolled'),
    ...words(waiting.filter(isUnserved), 'running'),
  ].join(' ');
}

function heardWords(heard: Result<'system.get'>['executors'][number]['heard']): string {
  if (heard === null) return 'never heard';
  return heard.is_running
    ? `running since ${clockOf(heard.since)}`
    : `last reported ${dayOf(heard.at)}, ${clockOf(heard.at)}`;
}

async function ready(): Promise<readonly string[]> {
  const { reasons } = (await (await fetch('/readyz')).json()) as { reasons: readonly string[] };
  return reasons;
}

export const screens = { health: Health };
