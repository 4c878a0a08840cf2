import { useState } from 'preact/hooks';
import { consoleLimits } from '../../limits.ts';
import { type Me, useApp, useMe } from '../app.ts';
import { actOf, touched } from '../gesture.ts';
import { refuse } from '../refusal.ts';
import { challengeFor, rebuilt, refuseOther } from '../statement.ts';
import { type Trouble, troubleOf } from '../trouble.ts';

/** A further passkey of the person who signs here: it is made with one touch, and signs its own enrolment with a second one; then the passkey that is known signs for it. */

const base64 = (bytes: ArrayBuffer) => Buffer.from(new Uint8Array(bytes));

interface Made {
  readonly passkey: {
    readonly credential_id: string;
    readonly public_key: string;
    readonly rp_id: string;
    readonly origins: readonly string[];
    readonly can_sync: boolean;
    readonly aaguid: string;
    readonly label: string;
  };
  readonly me: Me;
}

/** The first touch. Nothing of it is signed: that comes with the second one. */
async function makePasskey(name: string, label: string): Promise<Made> {
  const rp_id = location.hostname;
  const made = (await navigator.credentials.create({
    publicKey: {
      rp: { id: rp_id, name: 'Keyturn' },
      user: { id: crypto.getRandomValues(new Uint8Array(16)), name, displayName: name },
      challenge: crypto.getRandomValues(new Uint8Array(32)),
      pubKeyCredParams: [-8, -7, -257].map((alg) => ({ type: 'public-key' as const, alg })),
      authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
      attestation: 'none',
    },
  })) as PublicKeyCredential;
  const response = made.response as AuthenticatorAttestationResponse;
  const key = response.getPublicKey();
  if (key === null) refuse('PASSKEY_INVALID', 'This browser cannot tell the key of the passkey.');
  const data = new Uint8Array(response.getAuthenticatorData());
  const credential_id = base64(made.rawId).toString('base64url');
  const public_key = base64(key).toString('base64');
  const can_sync = (data[32]! & 0x08) !== 0;
  const aaguid = Buffer.from(data.subarray(37, 53))
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  const passkey = { credential_id, public_key, rp_id, origins: [location.origin], can_sync, aaguid, label };
  return { passkey, me: { name, key: public_key, label, credential_id, rp_id, can_sync } };
}

type Step = 'idle' | 'make' | 'own' | 'vouch' | 'done';

const SAYS: Readonly<Record<Step, string>> = {
  idle: '',
  make: 'Touch 1: your device makes a new passkey for this address.',
  own: 'Touch 2: the new passkey signs its own enrolment, which shows that it works.',
  vouch: 'Now the passkey that is known already: it says that the new one is yours.',
  done: 'Enrolled. It can sign from now on.',
};

export function Enrol() {
  const app = useApp();
  const { me, name } = useMe();
  const [label, setLabel] = useState('');
  const [step, setStep] = useState<Step>('idle');
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  if (!isSecureContext || !('PublicKeyCredential' in window))
    return (
      <section class="deed">
        <header>
          <h2>A passkey</h2>
        </header>
        <p class="inset">
          This address cannot use passkeys: browsers allow them on https, and on <code>http://localhost</code>
          . Open http://localhost:{location.port}, or sign at the terminal.
        </p>
      </section>
    );
  if (me === null)
    return (
      <section class="deed">
        <header>
          <h2>Your first passkey here</h2>
        </header>
        <div class="inset">
          <p>
            A human who is enrolled already has to say that it is yours.{' '}
            {name && (
              <>
                You are <b>{name}</b>, and sign with a key file.{' '}
              </>
            )}
            At the terminal, your passphrase says it:
          </p>
          <p>
            <code class="command">keyturn credential add --passkey</code>
          </p>
          <p class="dim">
            It prints a link. Opened here, it asks for two touches: the first makes the passkey, the second
            shows that it works.
          </p>
        </div>
      </section>
    );
  const enrol = async () => {
    const signal = new AbortController().signal;
    setTrouble(null);
    setStep('make');
    const { passkey, me: fresh } = await makePasskey(me.name, label.trim());
    const credential = { kind: 'passkey', ...passkey } as const;
    const reason = `A further passkey: ${label.trim()}`;
    const request = { name: me.name, credential, reason };
    const holder = { name: me.name, public_key: passkey.public_key };
    const act = actOf(app, 'people.addCredential');
    const { draft } = await act.draft({ request, by: me.name, key: me.key, holder });
    const signing = { origin: app.world.get().origin, by: me.name, key: me.key, at: draft.at };
    if (draft.statements.length !== 1) refuseOther('how many acts there are');
    const statement = rebuilt(
      draft.statements[0]!,
      { kind: 'credential.added', subject: me.name, fixed: { credential, reason }, free: [] },
      signing,
    );
    const asked = challengeFor([statement.digest]);
    setStep('own');
    const own = await touched(fresh, asked, signal);
    setStep('vouch');
    const vouched = await touched(me, asked, signal);
    await act.finish({ request, draft, proofs: [vouched], holder: { ...holder, proofs: [own] } });
    setStep('done');
  };
  const begin = (event: Event) => {
    event.preventDefault();
    if (label.trim() === '' || (step !== 'idle' && step !== 'done')) return;
    enrol().catch((error: unknown) => {
      setTrouble(troubleOf(error));
      setStep('idle');
    });
  };
  return (
    <section class="deed">
      <header>
        <h2>Another passkey for {me.name}</h2>
      </header>
      <form class="inset reasoned" onSubmit={begin}>
        <div class="field">
          <label for="label">What you call it</label>
          <input
            id="label"
            type="text"
            maxLength={consoleLimits.label_chars}
            autocomplete="off"
            required
            value={label}
            onInput={({ currentTarget }) => setLabel(currentTarget.value)}
          />
          <small>Such as laptop or phone. A second one means that a lost device is not a lost name.</small>
        </div>
        <div class="acts">
          <button type="submit" class="act yes">
            Enrol it…
          </button>
        </div>
      </form>
      <p class="inset" role="status">
        {trouble ? (
          <span class="t-warn">
            {trouble.words} {trouble.advice}
          </span>
        ) : (
          SAYS[step]
        )}
      </p>
    </section>
  );
}
