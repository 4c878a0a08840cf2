import { visible } from '../../canonical/visible.ts';
import { useApp, useTold } from '../app.ts';
import { List, PageFrame } from '../part/page.tsx';
import { clockOf, dayOf } from '../words.ts';

function Conversations({ id }: { readonly id: string }) {
  return id === '' ? <All /> : <One id={decodeURIComponent(id)} />;
}

function All() {
  const { api } = useApp();
  const told = useTold(
    () => api.conversations.list({ limit: 100 }),
    [],
    ({ subject }) => subject.startsWith('agent:'),
  );
  return (
    <PageFrame
      title="Conversations"
      told={told}
      lead={<span>Goals in the words of users, and what became of them.</span>}
    >
      {({ conversations }) => (
        <List
          none="No conversations yet."
          items={conversations.map(({ correlation_id, goal, user_id, status, begun_at }) => (
            <>
              <div>
                <a href={`#/conversations/${encodeURIComponent(correlation_id)}`}>
                  “<bdi dir="auto">{visible(goal ?? 'The words were erased.').slice(0, 120)}</bdi>”
                </a>
                <p>
                  <bdi>{visible(user_id)}</bdi>
                </p>
              </div>
              <span class="end">
                {status.toLowerCase()}, {dayOf(begun_at)}
              </span>
            </>
          ))}
        />
      )}
    </PageFrame>
  );
}

/** What was said and what came of it, oldest first. */
function One({ id }: { readonly id: string }) {
  const { api } = useApp();
  const told = useTold(
    () => api.conversations.status({ correlation_id: id }),
    [id],
    ({ subject }) => subject === `agent:${id}`,
  );
  return (
    <PageFrame title="Conversation" told={told} lead={<code>{visible(id)}</code>}>
      {({ user_id, status, talk, plans }) => (
        <>
          <ul class="plain">
            {talk.map(({ seq, at, kind, text, read_as }) => (
              <li>
                <time dateTime={at}>{clockOf(at)}</time>{' '}
                <b>{kind === 'QUESTION' || kind === 'REFUSAL' ? 'Keyturn' : <bdi>{visible(user_id)}</bdi>}</b>{' '}
                “<bdi dir="auto">{visible(text ?? 'The words were erased.')}</bdi>”
                {read_as && <span class="dim"> read as {read_as.toLowerCase()}</span>}{' '}
                <span class="dim">{seq}</span>
              </li>
            ))}
          </ul>
          <h2 class="head">What came of it: {status.toLowerCase()}</h2>
          <List
            none="Nothing was planned."
            items={plans.flatMap(({ steps }) =>
              steps.map(({ simulation, version, state, intent_id }) => (
                <>
                  <div>
                    {intent_id === null ? (
                      <b>{simulation}</b>
                    ) : (
                      <a href={`#/story/${intent_id}`}>{simulation}</a>
                    )}{' '}
                    <span class="dim">version {version}</span>
                  </div>
                  <span class="end">{state.toLowerCase().replaceAll('_', ' ')}</span>
                </>
              )),
            )}
          />
        </>
      )}
    </PageFrame>
  );
}

export const screens = { conversations: Conversations };
