import { visible } from '../../canonical/visible.ts';
import { useApp, useTold } from '../app.ts';
import { Tag } from '../part/icon.tsx';
import { List, PageFrame } from '../part/page.tsx';
import { Dig, Fold } from '../part/text.tsx';
import { dayOf } from '../words.ts';

/** What may be proposed, and what the agent core may run. */
function Tools(_: { readonly id: string }) {
  const { api } = useApp();
  const told = useTold(() => Promise.all([api.tools.list(), api.tools.lint()]), []);
  return (
    <PageFrame title="Tools" told={told}>
      {([{ tools }, { registry, faults }]) => (
        <>
          <p class="dim">
            From <code>{registry}</code>. {faults.length === 0 ? 'Nothing is wrong with it. ' : ''}A proposal
            binds the digest of the definition, and that of each program that runs.
          </p>
          {faults.length > 0 && (
            <div class="banner warn">
              <p>
                {faults.map(({ code, message, line }) => (
                  <span>
                    Line {line}: {message} <code>{code}</code>{' '}
                  </span>
                ))}
              </p>
            </div>
          )}
          <List
            none="No tool is registered."
            items={tools.map(({ name, pin, summary, executable, sandbox, undo, timeout_s, parameters }) => (
              <div class="grow">
                <div class="spread">
                  <b>{name}</b>
                  <span class="tags">
                    {sandbox === 'none' ? (
                      <Tag tone="danger">No sandbox</Tag>
                    ) : (sandbox as { network?: boolean }).network ? (
                      <Tag tone="danger">Network</Tag>
                    ) : (
                      <Tag tone="ok">Sandboxed</Tag>
                    )}
                    <Tag tone={undo === 'none' ? 'warn' : 'ok'}>
                      {undo === 'none' ? 'No undo' : `Undo: ${undo}`}
                    </Tag>
                  </span>
                </div>
                <p>{visible(summary)}</p>
                <p>
                  <code>{executable}</code>, {timeout_s} s at most
                </p>
                <p class="dim">
                  Definition <Dig digest={pin} />
                </p>
                {Object.keys(parameters).length > 0 && (
                  <p class="dim">
                    Takes{' '}
                    {Object.entries(parameters)
                      .map(
                        ([parameter, { type, required }]) =>
                          `${parameter} (${type}${required ? '' : ', optional'})`,
                      )
                      .join(', ')}
                  </p>
                )}
              </div>
            ))}
          />
          <Simulations />
        </>
      )}
    </PageFrame>
  );
}

function Simulations() {
  const { api } = useApp();
  const told = useTold(
    () => api.simulations.list(),
    [],
    ({ kind }) => kind.startsWith('simulation.'),
  );
  if (!told.value) return null;
  return (
    <section>
      <h2 class="head">Simulations</h2>
      <List
        none="There are none: the agent core has nothing to choose from."
        items={told.value.simulations.map(
          ({ id, version, status, summary, risk, has_changed, expires_at }) => (
            <div class="grow">
              <div class="spread">
                <b>
                  {id}, version {version}
                </b>
                <span class="tags">
                  <Tag tone={status === 'Active' ? 'ok' : 'plain'}>{status}</Tag>
                  <Tag tone={risk === 'HIGH' ? 'danger' : risk === 'MEDIUM' ? 'warn' : 'plain'}>
                    {risk.toLowerCase()} risk
                  </Tag>
                </span>
              </div>
              <p>{visible(summary)}</p>
              {has_changed && <p class="t-warn">The file is not what was registered.</p>}
              {expires_at && <p class="dim">Until {dayOf(expires_at)}</p>}
              <Bound id={id} />
            </div>
          ),
        )}
      />
    </section>
  );
}

function Bound({ id }: { readonly id: string }) {
  const { api } = useApp();
  const { value, trouble } = useTold(() => api.simulations.get({ id }), [id]);
  if (trouble) return <p class="dim">{trouble.words}</p>;
  if (!value)
    return (
      <p class="dim" aria-busy="true">
        Asking …
      </p>
    );
  const { digest, registered, differs, lines } = value;
  return (
    <>
      <p class="dim">
        Definition <Dig digest={digest} />{' '}
        {registered?.bound ? (
          <>
            Bound <Dig digest={registered.bound} />
          </>
        ) : (
          'Nothing is bound: it was not activated.'
        )}
      </p>
      {differs.map((one) => (
        <p class="t-danger">Differs: {visible(one)}</p>
      ))}
      <Fold title="What it binds" note="programs, sandbox, steps">
        <dl class="rows">
          {lines.map(({ label, value: pieces }) => (
            <div>
              <dt>{label}</dt>
              <dd>{pieces.map(({ text }) => text).join('')}</dd>
            </div>
          ))}
        </dl>
      </Fold>
    </>
  );
}

export const screens = { tools: Tools };
