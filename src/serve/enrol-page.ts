/** A file of the page that the link of an enrolment opens, under the one path at which it is served. */
interface EnrolFile {
  readonly path: '/enrol' | '/enrol.css' | '/enrol.js';
  readonly type: string;
  readonly about: string;
  readonly text: string;
}

interface EnrolWords {
  readonly title: string;
  readonly lead: string;
  readonly second: string;
  readonly third: string;
  readonly third_more: string;
  readonly done: string;
}

const JOINING: EnrolWords = {
  title: 'A passkey',
  lead: 'It will sign your decisions. Each one asks for a touch.',
  second: 'The new passkey signs its own enrolment, which shows that it works.',
  third: 'A human who is enrolled here signs for it',
  third_more:
    'In the console, under People, or at the terminal that printed the link. Until then it counts for nothing.',
  done: 'The passkey is enrolled. You can close this page.',
};

const FOUNDING: EnrolWords = {
  title: 'A new project',
  lead: 'Your passkey founds it. You are its first human.',
  second:
    'The passkey signs the beginning of the project: your name, and the keys and policies it starts with.',
  third: 'The terminal that printed the link goes on',
  third_more: 'No other human signs for you: the owner of that terminal decides who the first human is.',
  done: 'The passkey is enrolled, and the project is there. Go back to the terminal.',
};

/** Two touches, by the routes that any other page can use. */
function pageOf({ title, lead, second, third, third_more, done }: EnrolWords): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Keyturn: ${title.toLowerCase()}</title>
<link rel="stylesheet" href="/enrol.css">
<script src="/enrol.js" defer></script>
</head>
<body>
<main>
<p class="brand"><svg viewBox="0 0 16 16" aria-hidden="true"><path d="M2 8a3 3 0 1 0 6 0 3 3 0 1 0-6 0M8 8h6.2M12 8v2.6"/></svg>Keyturn</p>
<h1>${title}</h1>
<p class="lead">${lead}</p>
<dl id="whose" hidden><div><dt>For</dt><dd id="name"></dd></div><div><dt>Called</dt><dd id="label"></dd></div><div><dt>At</dt><dd id="place"></dd></div></dl>
<ol>
<li><b>Touch 1</b><span class="state"></span><p>Your device makes the passkey. It stays with this address.</p></li>
<li><b>Touch 2</b><span class="state"></span><p>${second}</p></li>
<li><b>${third}</b><span class="state"></span><p>${third_more}</p></li>
</ol>
<div class="dock">
<p id="told" role="status" data-done="${done}">Open the whole link that you were given: its end is missing here.</p>
<button id="go" type="button" disabled hidden>Make the passkey</button>
</div>
<noscript><p>This page needs JavaScript.</p></noscript>
</main>
</body>
</html>
`;
}

/** The tokens are those of the console (`src/console/style.css`). */
const STYLE = `:root {
  color-scheme: light dark;
  --sans: system-ui, -apple-system, "Segoe UI Variable Text", "Segoe UI", Roboto, "Noto Sans", sans-serif;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  --bg: light-dark(#fafaf8, #0e1012);
  --surface: light-dark(#ffffff, #15181b);
  --line: light-dark(#e5e5e0, #24292e);
  --ink: light-dark(#16181b, #e9ebed);
  --ink-2: light-dark(#4d5258, #aab1b8);
  --ink-3: light-dark(#666b72, #8d949c);
  --accent: light-dark(#2a56c6, #94b4ff);
  --accent-soft: light-dark(#edf2fe, #172136);
  --warn: light-dark(#855400, #e6b04f);
  --ok: light-dark(#19713f, #74cf99);
}
*, *::before, *::after { box-sizing: border-box; }
[hidden] { display: none !important; }
html { background: var(--bg); -webkit-text-size-adjust: 100%; }
body { margin: 0; font: 400 14px/24px var(--sans); color: var(--ink); -webkit-font-smoothing: antialiased; }
main { max-width: 560px; margin: 0 auto; padding: 12vh 24px 64px; }
h1, p, ol, dl, dd { margin: 0; padding: 0; }
ol { list-style: none; counter-reset: step; }
.brand { display: flex; align-items: center; gap: 8px; font-weight: 600; }
.brand svg { width: 16px; height: 16px; fill: none; stroke: var(--accent); stroke-width: 1.5; stroke-linecap: round; stroke-linejoin: round; }
h1 { margin-top: 32px; font-size: 24px; line-height: 32px; font-weight: 600; letter-spacing: -.014em; overflow-wrap: anywhere; }
.lead { margin-top: 8px; color: var(--ink-2); }
dl { margin-top: 24px; border-block: 1px solid var(--line); padding: 8px 0; }
dl > div { display: grid; grid-template-columns: 72px minmax(0, 1fr); gap: 16px; font-size: 13px; }
dt { color: var(--ink-3); }
dd { overflow-wrap: anywhere; unicode-bidi: isolate; }
#place { font: 400 12.5px/24px var(--mono); }
ol { margin-top: 24px; border: 1px solid var(--line); border-radius: 10px; background: var(--surface); }
li { counter-increment: step; display: grid; grid-template-columns: 24px minmax(0, 1fr) auto; gap: 0 12px; padding: 12px 16px; }
li + li { border-top: 1px solid var(--line); }
li::before { content: counter(step); width: 24px; height: 24px; border: 1px solid var(--line); border-radius: 50%; text-align: center; font-size: 12px; line-height: 22px; color: var(--ink-3); }
li b { font-weight: 600; }
li p { grid-column: 2 / -1; font-size: 13px; line-height: 20px; color: var(--ink-2); }
li .state { font-size: 13px; color: var(--ink-3); }
li[aria-current]::before { border-color: var(--accent); color: var(--accent); }
li[aria-current] .state { color: var(--accent); }
li.done::before { content: "\\2713" / ""; border-color: var(--ok); color: var(--ok); }
li.done .state { color: var(--ok); }
.dock { margin-top: 24px; display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 12px 24px; align-items: center; }
#told:has(+ [hidden]) { grid-column: 1 / -1; }
#told { overflow-wrap: anywhere; text-wrap: pretty; }
#told.trouble { color: var(--warn); }
button { min-height: 40px; padding: 0 16px; border: 1px solid var(--accent); border-radius: 6px; background: var(--surface); color: var(--accent); font: inherit; font-weight: 500; cursor: pointer; }
button:hover { background: var(--accent-soft); }
button:disabled { border-color: var(--line); color: var(--ink-3); background: none; cursor: default; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
@media (max-width: 720px) {
  body { font-size: 15px; }
  main { padding: 32px 16px 48px; }
  h1 { font-size: 22px; }
  .dock { grid-template-columns: minmax(0, 1fr); }
}
`;

const SCRIPT = `'use strict';
(() => {
  const part = (id) => document.getElementById(id);
  const told = part('told');
  const go = part('go');
  const steps = [...document.querySelectorAll('li')];
  const say = (text, is_trouble = false) => {
    told.textContent = text;
    told.className = is_trouble ? 'trouble' : '';
  };
  /** The step at which the person is; after the last one all are done. */
  const reach = (now) => steps.forEach((one, i) => {
    one.className = i < now ? 'done' : '';
    one.querySelector('.state').textContent = i < now ? 'done' : i === now ? 'now' : '';
    if (i === now) one.setAttribute('aria-current', 'step');
    else one.removeAttribute('aria-current');
  });
  const link = new URLSearchParams(location.hash.slice(1)).get('link');
  if (link === null) return;
  history.replaceState(null, '', '/enrol');
  if (!isSecureContext || !('PublicKeyCredential' in window)) {
    say('This address cannot use passkeys: browsers allow them on https, and on http://localhost.', true);
    return;
  }
  const ask = async (step, more) => {
    const lost = () => { throw new Error('The service does not answer. Look whether it runs, then try again.'); };
    const answer = await fetch('/v1/enrolments/' + step, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ link, ...more }),
    }).catch(lost);
    const value = await answer.json();
    if (!answer.ok) {
      const words = (value.detail + ' ' + value.advice).replaceAll('\`', '');
      throw Object.assign(new Error(words), { code: value.code });
    }
    return value;
  };
  const bytes = (text) =>
    Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0));
  const base64 = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)));
  const base64url = (buffer) => base64(buffer).replace(/\\+/g, '-').replace(/\\//g, '_').replace(/=+$/, '');
  const make = async () => {
    const { options } = await ask('begin');
    const { rawId, response } = await navigator.credentials.create({
      publicKey: {
        ...options,
        challenge: bytes(options.challenge),
        user: { ...options.user, id: bytes(options.user.id) },
        excludeCredentials: options.excludeCredentials.map((one) => ({ ...one, id: bytes(one.id) })),
      },
    });
    await ask('made', {
      answer: {
        credential_id: base64url(rawId),
        public_key: base64(response.getPublicKey()),
        algorithm: response.getPublicKeyAlgorithm(),
        authenticator_data: base64url(response.getAuthenticatorData()),
        client_data: base64url(response.clientDataJSON),
      },
    });
  };
  const sign = async () => {
    const { challenge, digests, rp_id, credential_id } = await ask('draft');
    const { response } = await navigator.credentials.get({
      publicKey: {
        challenge: bytes(challenge),
        rpId: rp_id,
        allowCredentials: [{ type: 'public-key', id: bytes(credential_id) }],
        userVerification: 'required',
        timeout: 110000,
      },
    });
    const proof = {
      authenticator_data: base64url(response.authenticatorData),
      client_data: base64url(response.clientDataJSON),
      signature: base64url(response.signature),
      touch: digests.length === 1 ? null : digests,
    };
    return ask('sign', { proof });
  };
  const followed = async (status) => {
    while (status !== 'enrolled') {
      await new Promise((done) => setTimeout(done, 1000));
      ({ status } = await ask('status'));
    }
    reach(steps.length);
    say(told.dataset.done);
  };
  const trouble = ({ name, message }) => {
    const was_left = name === 'NotAllowedError' || name === 'AbortError';
    say(was_left ? 'The gesture was not finished. Nothing was signed: try again.' : message, true);
  };
  let has_passkey = false;
  go.addEventListener('click', async () => {
    go.disabled = true;
    try {
      if (!has_passkey) {
        await make();
        has_passkey = true;
        reach(1);
        say('It is made. Touch it once more.');
        go.textContent = 'Sign with the passkey';
        go.disabled = false;
        return;
      }
      const { status } = await sign();
      go.hidden = true;
      reach(2);
      say('The passkey has signed. Now it must be vouched for, in the console or at the terminal, within two minutes. Leave this page open: it says when.');
      await followed(status);
    } catch (error) {
      trouble(error);
      reach(has_passkey ? 1 : 0);
      go.hidden = error.code === 'ENROLMENT_UNKNOWN';
      go.disabled = false;
    }
  });
  // It asks for nothing but who it is for: a link that has ended says so before the first touch.
  ask('begin').then(({ name, label }) => {
    part('name').textContent = name;
    part('label').textContent = label;
    part('place').textContent = location.origin;
    part('whose').hidden = false;
    reach(0);
    say('You will touch the passkey twice.');
    go.hidden = false;
    go.disabled = false;
  }, trouble);
})();
`;

const HTML = 'text/html; charset=utf-8';
const STYLE_FILE: EnrolFile = {
  path: '/enrol.css',
  type: 'text/css; charset=utf-8',
  about: 'Its style.',
  text: STYLE,
};
const SCRIPT_FILE: EnrolFile = {
  path: '/enrol.js',
  type: 'text/javascript; charset=utf-8',
  about: 'Its script.',
  text: SCRIPT,
};

const filesOf = (words: EnrolWords): readonly EnrolFile[] => [
  { path: '/enrol', type: HTML, about: 'The page on which a passkey is made.', text: pageOf(words) },
  STYLE_FILE,
  SCRIPT_FILE,
];

export const ENROL_FILES = filesOf(JOINING);
export const FOUNDING_FILES = filesOf(FOUNDING);
