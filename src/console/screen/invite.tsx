import { useEffect, useState } from 'preact/hooks';
import type { Json } from '../../canonical/json.ts';
import { visible } from '../../canonical/visible.ts';
import { answerIn } from '../../client/ask.ts';
import { consoleLimits } from '../../limits.ts';
import { type App, type Me, useApp, useMe, useTold } from '../app.ts';
import { useCell } from '../cell.ts';
import { pageHeader } from '../enter.ts';
import { touched } from '../gesture.ts';
import { Tag } from '../part/icon.tsx';
import { List } from '../part/page.tsx';
import { Dig } from '../part/text.tsx';
import { challengeFor, rebuilt, refuseOther } from '../statement.ts';
import { type Trouble, troubleOf } from '../trouble.ts';
import { clockOf } from '../words.ts';

/** Passkeys of others: a link for their browser, two touches there, and then a signature here. Until then it counts for nothing. */

interface OpenedLink {
  readonly link: string;
  readonly expires_at: string;
}

interface Pending {
  readonly enrolment_id: string;
  readonly kind: 'credential' | 'person';
  readonly name: string;
  readonly label: string;
  readonly by: string;
  readonly key: string;
  readonly expires_at: string;
  readonly status: 'open' | 'signed' | 'enrolled';
  readonly passkey: (Readonly<Record<string, Json>> & { readonly public_key: string }) | null;
  /** Of a key that was made at a terminal. */
  readonly public_key: string | null;
  readonly pending: {
    readonly draft: { readonly statements: readonly string[]; readonly at: string };
    readonly digests: readonly string[];
  } | null;
}

async function ask<T>(step: 'open' | 'list' | 'finish' | 'drop', body: object): Promise<T> {
  const answer = await fetch(`/v1/enrolments/${step}`, {
    method: 'POST',
    headers: { ...pageHeader(), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return (await answerIn(answer)) as T;
}

const LOOK_MS = 2_000;

export function Invite() {
  const app = useApp();
  const { me } = useMe();
  const told = useTold(() => ask<{ enrolments: readonly Pending[] }>('list', {}), []);
  const all = told.value?.enrolments.filter(({ status }) => status !== 'enrolled') ?? [];
  // The touches in the other browser are no entries of the ledger.
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && told.again(), LOOK_MS);
    return () => clearInterval(timer);
  }, [told.again]);
  return (
    <section class="deed">
      <header>
        <h2>A passkey for another person</h2>
        <span class="note">counts once you signed for it</span>
      </header>
      <div class="inset">
        {me === null ? (
          <p>
            You have no passkey at this address to sign for theirs. At the terminal:{' '}
            <code>keyturn identity add NAME</code>
          </p>
        ) : (
          <InviteForm me={me} onOpened={told.again} />
        )}
      </div>
      {told.trouble && (
        <p class="inset t-warn">
          {told.trouble.words} {told.trouble.advice}
        </p>
      )}
      {all.length > 0 && (
        <div class="inset" data-pending={all.length}>
          <List
            none=""
            items={all.map((one) => (
              <PendingOne key={one.enrolment_id} app={app} me={me} one={one} onChange={told.again} />
            ))}
          />
        </div>
      )}
    </section>
  );
}

function InviteForm({ me, onOpened }: { readonly me: Me; readonly onOpened: () => void }) {
  const { people } = useCell(useApp().world);
  const [name, setName] = useState('');
  const [opened, setOpened] = useState<(OpenedLink & { readonly name: string }) | null>(null);
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const wanted = name.trim();
  const known = people.some((one) => one.kind === 'human' && one.name === wanted);
  const begin = (event: Event) => {
    event.preventDefault();
    if (wanted === '') return;
    const asked = { kind: known ? 'credential' : 'person', name: wanted, label: 'passkey' };
    ask<OpenedLink>('open', { ...asked, by: me.name, key: me.key }).then(
      (link) => {
        setTrouble(null);
        setOpened({ ...link, name: wanted });
        setName('');
        onOpened();
      },
      (error: unknown) => setTrouble(troubleOf(error)),
    );
  };
  return (
    <>
      <form class="reasoned" onSubmit={begin}>
        <div class="field">
          <label for="invited">Their name</label>
          <input
            id="invited"
            type="text"
            maxLength={consoleLimits.name_chars}
            autocomplete="off"
            required
            value={name}
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
          <small>
            {wanted === ''
              ? 'A new person, or one who lost a device.'
              : known
                ? `${wanted} is enrolled. You can sign for them only where no credential of theirs is left.`
                : `${wanted} becomes a human of this project.`}
          </small>
        </div>
        <div class="acts">
          <button type="submit" class="act">
            Make a link
          </button>
        </div>
      </form>
      <div role="status">
        {trouble && (
          <p class="t-warn">
            {trouble.words} {trouble.advice} {trouble.code && <code>{trouble.code}</code>}
          </p>
        )}
        {opened && (
          <>
            <p>
              Give this link to <bdi>{opened.name}</bdi> alone. It works until {clockOf(opened.expires_at)}:
              the first touch makes a passkey, the second shows that it works.
            </p>
            <p>
              <code class="command invite-link">{opened.link}</code>
            </p>
          </>
        )}
      </div>
    </>
  );
}

const STATUS = {
  open: 'The link was not used to its end yet.',
  signed: 'Touched twice. It waits for a signature here.',
  enrolled: 'Enrolled.',
};

function PendingOne({
  app,
  me,
  one,
  onChange,
}: {
  readonly app: App;
  readonly me: Me | null;
  readonly one: Pending;
  readonly onChange: () => void;
}) {
  const [touching, setTouching] = useState(false);
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const { enrolment_id, name, label, by, key, status, kind, passkey, pending } = one;
  const public_key = one.public_key ?? passkey?.public_key ?? null;
  const says = bodyIn(pending?.draft.statements[0]);
  const roles = Array.isArray(says.roles) ? says.roles.map(String) : [];
  const run = (work: Promise<unknown>) =>
    work
      .then(() => setTrouble(null))
      .catch((error: unknown) => setTrouble(troubleOf(error)))
      .finally(() => {
        setTouching(false);
        onChange();
      });
  const vouch = () => {
    if (me === null || touching) return;
    setTouching(true);
    void run(vouchFor(app, me, one));
  };
  return (
    <>
      <div>
        <b>
          <bdi>{visible(name)}</bdi>
        </b>{' '}
        <Tag tone={status === 'signed' ? 'warn' : 'plain'}>
          {kind === 'person' ? 'new person' : one.public_key ? 'further key file' : 'further passkey'}
        </Tag>
        <p>
          {touching
            ? `Touch your passkey to say that it belongs to ${name}.`
            : one.public_key
              ? 'Made at a terminal. It waits for a signature here.'
              : STATUS[status]}{' '}
          {public_key && (
            <>
              “{visible(label)}”, key <Dig digest={public_key} />
            </>
          )}
          {roles.length > 0 && <> Roles: {visible(roles.join(', '))}.</>}
          {typeof says.reason === 'string' && <> “{visible(says.reason)}”</>}
          {by !== me?.name && (
            <>
              {' '}
              <bdi>{by}</bdi> signs for it.
            </>
          )}
        </p>
        {trouble && (
          <p class="t-warn" role="alert">
            {trouble.words} {trouble.advice} {trouble.code && <code>{trouble.code}</code>}
          </p>
        )}
      </div>
      {status === 'signed' && me?.name === by && me.key === key && (
        <button type="button" class="act small yes" onClick={vouch}>
          Sign for {name}…
        </button>
      )}
      <button type="button" class="act small" onClick={() => void run(ask('drop', { enrolment_id }))}>
        End
      </button>
    </>
  );
}

function bodyIn(statement: string | undefined): Readonly<Record<string, Json>> {
  try {
    return (JSON.parse(statement ?? '{}') as { body?: Record<string, Json> }).body ?? {};
  } catch {
    return {};
  }
}

/** The statement is made again from what is drawn of it: name, key, roles and reason. */
async function vouchFor(app: App, me: Me, one: Pending) {
  const { enrolment_id, kind, name, label, passkey, public_key, pending } = one;
  const credential = passkey ? { ...passkey, kind: 'passkey' } : { kind: 'key', public_key, label };
  if (pending?.draft.statements.length !== 1) refuseOther('how many acts there are');
  const [theirs] = pending.draft.statements;
  const { roles = [], reason = '' } = bodyIn(theirs);
  const expected =
    kind === 'person'
      ? { kind: 'key.enrolled', fixed: { principal: 'human', credential, roles } }
      : { kind: 'credential.added', fixed: { credential, reason } };
  const statement = rebuilt(
    theirs!,
    { ...expected, subject: name, free: [] },
    {
      origin: app.world.get().origin,
      by: me.name,
      key: me.key,
      at: pending.draft.at,
    },
  );
  if (pending.digests[0] !== statement.digest) refuseOther('its digest');
  const proof = await touched(me, challengeFor([statement.digest]), new AbortController().signal);
  await ask('finish', { enrolment_id, proofs: [proof] });
}
