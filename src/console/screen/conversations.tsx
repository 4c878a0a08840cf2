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
          none="Nobody has asked for anything yet."
          items={conversations.map((one) => {
            const said = one as unknown as {
              correlation_id: string;
              user_id: string;
              status: string;
              began_at?: string;
              goal?: string | null;
            };
            return (
              <>
                <div>
                  <a href={`#/conversations/${encodeURIComponent(said.correlation_id)}`}>
                    “<bdi dir="auto">{visible(said.goal ?? said.correlation_id).slice(0, 120)}</bdi>”
                  </a>
                  <p>
                    <bdi>{visible(said.user_id ?? '')}</bdi>
                  </p>
                </div>
                <span class="end">
                  {said.status.toLowerCase()}
                  {said.began_at ? `, ${dayOf(said.began_at)}` : ''}
                </span>
              </>
            );
          })}
        />
      )}
    </PageFrame>
  );
}

function One({ id }: { readonly id: string }) {
  const { api } = useApp();
  const told = useTold(
    () => api.ledger.entries({ subject: `agent:${id}`, limit: 200 }),
    [id],
    ({ subject }) => subject === `agent:${id}`,
  );
  return (
    <PageFrame title="Conversation" told={told} lead={<code>{visible(id)}</code>}>
      {({ entries }) => (
        <ul class="plain">
          {entries.toReversed().map(({ seq, at, words }) => (
            <li>
              <time dateTime={at}>{clockOf(at)}</time> {visible(words)} <span class="dim">{seq}</span>
            </li>
          ))}
        </ul>
      )}
    </PageFrame>
  );
}

export const screens = { conversations: Conversations };
