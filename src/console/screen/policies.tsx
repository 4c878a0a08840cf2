import { visible } from '../../canonical/visible.ts';
import { sealedPolicies } from '../../display/policy-check.ts';
import { useApp, useTold } from '../app.ts';
import { reasoned } from '../gesture.ts';
import { Alarms } from '../part/deed.tsx';
import { DiffView } from '../part/diff.tsx';
import { Icon } from '../part/icon.tsx';
import { List, PageFrame } from '../part/page.tsx';
import { SignedAct } from '../part/signed-act.tsx';
import { Dig } from '../part/text.tsx';
import { dayOf, plural } from '../words.ts';

/** The rules that decide, and what would change if the files became the rules. */
function Policies(_: { readonly id: string }) {
  const { api } = useApp();
  const told = useTold(
    () => api.policies.files(),
    [],
    ({ kind }) => kind === 'policy.activated',
  );
  return (
    <PageFrame title="Policies" told={told}>
      {({ active, same, words }) => (
        <>
          <dl class="rows boxed">
            <div>
              <dt>Active</dt>
              <dd>{active ? <Dig digest={active} /> : 'None: every decision is denied.'}</dd>
            </div>
            <div>
              <dt>Files</dt>
              <dd>{same ? 'The files in policies/ are what decides.' : words}</dd>
            </div>
          </dl>
          {same ? <Same /> : <Changed />}
        </>
      )}
    </PageFrame>
  );
}

function Same() {
  const { api } = useApp();
  const tests = useTold(() => api.policies.test(), []);
  const problems = useTold(() => api.policies.check(), []);
  return (
    <>
      {problems.value && (
        <List
          none="The files have no problems."
          items={problems.value.problems.map(({ file, line, message, severity }) => (
            <>
              <div>
                <b>{severity === 'error' ? 'Error' : 'Odd'}</b>
                <p>
                  <code>
                    {file}:{line}
                  </code>{' '}
                  {message}
                </p>
              </div>
            </>
          ))}
        />
      )}
      {tests.value && (
        <section>
          <h2 class="head">Tests</h2>
          <List
            none="policies/tests.yaml asks nothing."
            items={tests.value.tests.map(({ name, passed, got }) => (
              <>
                <span class={passed ? 't-ok' : 't-danger'}>
                  <Icon name={passed ? 'ok' : 'no'} />
                </span>
                <div>
                  <b>{name}</b>
                  <p>{got.words}</p>
                </div>
                <span class="end">{passed ? 'holds' : 'fails'}</span>
              </>
            ))}
          />
        </section>
      )}
    </>
  );
}

function Changed() {
  const { api } = useApp();
  const told = useTold(
    () => api.policies.diff({}),
    [],
    ({ kind }) => kind === 'policy.activated',
  );
  if (told.trouble)
    return (
      <div class="banner warn">
        <Icon name="tri" />
        <p>
          <b>{told.trouble.words}</b> {told.trouble.advice}
        </p>
      </div>
    );
  if (!told.value)
    return (
      <p class="dim" aria-busy="true">
        Checking recent decisions against these files …
      </p>
    );
  const { added, removed, changed, shown, asked, decisions } = told.value;
  const { blocks } = shown;
  const sealed = sealedPolicies(told.value);
  return (
    <>
      <Alarms shown={shown} />
      <p class="dim">
        {[
          added.length > 0 && `Added: ${added.join(', ')}`,
          removed.length > 0 && `Removed: ${removed.join(', ')}`,
          changed.length > 0 && `Changed: ${changed.join(', ')}`,
        ]
          .filter(Boolean)
          .join('. ')}
      </p>
      {blocks.map((block) => (
        <DiffView block={block} label={block.title.map(({ text }) => text).join('')} note="Policy text" />
      ))}
      <section>
        <h2 class="head">Which recent decisions would change</h2>
        <List
          none={
            asked === 0
              ? 'There are no recent decisions.'
              : `None of the last ${plural(asked, 'decision')} would change.`
          }
          items={decisions.map(({ subject, at, action, principal, before, after }) => (
            <>
              <div>
                <b>
                  {action} by {principal}
                </b>{' '}
                <a href={`#/story/${subject}`}>{subject.slice(0, 8)}</a>
                <p>
                  {before.allowed ? 'Allowed' : 'Denied'}, would be {after.allowed ? 'allowed' : 'denied'}:{' '}
                  {visible(after.words)}
                </p>
              </div>
              <span class="end">{dayOf(at)}</span>
            </>
          ))}
        />
      </section>
      <section class="dock" aria-label="Decision">
        <div>
          <div class="says">
            {sealed === null ? (
              <>
                <b>The service shows other texts than it wants signed.</b> Nothing can be signed here. Do not
                use this console until you know why. <code>ACT_OTHER</code>
              </>
            ) : (
              <>
                <b>These files become the rules</b>, from the next decision on. Their digest, computed by this
                page: <Dig digest={sealed.files} />
              </>
            )}
          </div>
        </div>
        {sealed && (
          <div class="acts">
            <SignedAct
              text="Activate these policies…"
              subject={sealed.files}
              command="keyturn policy activate"
              doing="activate these policies"
              done="They decide from now on."
              onDone={told.again}
              ask={(reason) => ({
                verb: 'policies.activate',
                request: { reason, snapshot: sealed.files, replaces: sealed.active },
                expected: reasoned(
                  '',
                  'policy.activated',
                  'system',
                  { reason, snapshot: sealed.files, replaces: sealed.active },
                  { free: ['policies'] },
                ).expected,
              })}
            />
          </div>
        )}
      </section>
    </>
  );
}

export const screens = { policies: Policies };
