import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { visible } from '../../canonical/visible.ts';
import { AGENT_CORE, type Executed, Keyturn } from '../../keyturn.ts';
import { jsonLine } from '../../lane/visible.ts';
import { webLimits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';
import type { ServeRequest } from '../../serve/serve.ts';
import type { Answer, Call, Options } from '../answer.ts';
import { readingHere, writingHere } from '../project.ts';
import { say } from '../say.ts';
import type { Result } from '../schema.ts';
import { refusalFrom } from '../tell.ts';
import { untilStopped } from '../until-stopped.ts';
import { requireAnySandbox } from './doctor.ts';

/** Until a signal ends it. */
export async function serve(call: Call): Promise<Answer> {
  const { port, host, publicUrl, execute: executes = true, link: prints_link = true } = call.options;
  const { json = false } = call.options;
  const serving = await import('../../serve/serve.ts');
  const request = {
    ...(port !== undefined && { port: serving.portOf(port) }),
    ...(host !== undefined && { host }),
    ...(publicUrl !== undefined && { public_url: serving.publicUrlOf(publicUrl) }),
    ...loginIn(call.options),
    ...accessIn(call.options),
    most: executes ? mostOf(call) : 0,
  };
  return stoppable(call, async (keyturn, rest) => {
    await makeCoreKey(keyturn);
    await serving.serve(keyturn, {
      ...request,
      ...rest,
      tellNotified: ({ target, outcome, words }) => {
        if (outcome !== 'delivered') say(2, `notify ${target}: ${visible(words)}`);
      },
      onListening: ({ address, link }) => {
        const result: Result<'serve'> = { address, link: prints_link ? link : null };
        if (json) say(1, jsonLine({ ok: true, command: 'serve', result }));
        else say(1, `Keyturn serves at ${address}\n${prints_link ? openOnce(link) : HOW_TO_OPEN}`);
        if (request.most > 0) void sayWhatIsMissing(keyturn, true);
      },
    });
  });
}

const openOnce = (link: string) => `Open within 5 minutes, once: ${link}`;
const HOW_TO_OPEN = 'For a link to the console: `keyturn link`, as this account.';

/** By the socket of the project, which only this account can open. */
export function link(call: Call): Promise<Answer> {
  return readingHere(call, async ({ layout }) => {
    const { askLocally } = await import('../../serve/local.ts');
    const result = (await askLocally(layout.serve_socket, '/v1/link', {})) as Result<'link'>;
    return { result, lines: [openOnce(result.link)] };
  });
}

/** A draft makes no key of the host, so the first simulation could not be activated from elsewhere. It has no right until a human enrols it. */
async function makeCoreKey({ layout, people }: Keyturn): Promise<void> {
  const path = join(layout.keys, `${AGENT_CORE}.seed`);
  const is_enrolled = (await people.list()).principals.some(({ name }) => name === AGENT_CORE);
  if (!is_enrolled && !existsSync(path)) Keyturn.createAgentKey(path);
}

/** The secret comes from a file: other accounts of this machine see the words of a command. */
function loginIn(options: Options): Pick<ServeRequest, 'login'> {
  const { oidcIssuer: issuer, oidcClient: client_id, oidcClaim: claim, oidcName, oidcSecretFile } = options;
  const all = [issuer, client_id, claim, oidcName, oidcSecretFile];
  if (all.every((one) => one === undefined)) return {};
  if (issuer === undefined || client_id === undefined)
    return refuse('USAGE', '--oidc-issuer and --oidc-client go together, and the others with them.');
  if (client_id === '' || claim === '') refuse('USAGE', '--oidc-client and --oidc-claim take a name.');
  const client_secret = oidcSecretFile === undefined ? null : secretIn(oidcSecretFile);
  const names = oidcName === undefined ? null : namesIn(oidcName);
  // Only `sub` is one account for ever; at many providers people choose the others themselves.
  if (claim === undefined && names === null)
    return refuse(
      'USAGE',
      'Say who is who: --oidc-name SUB=NAME for each person, or --oidc-claim with a claim that has the enrolled name and that people cannot change at the provider.',
    );
  return { login: { issuer, client_id, client_secret, claim: claim ?? 'sub', names } };
}

function accessIn({
  oauthIssuer: issuer,
  oauthClaim: claim,
  oauthName,
}: Options): Pick<ServeRequest, 'access'> {
  if (issuer === undefined) {
    if (claim !== undefined || oauthName !== undefined)
      refuse('USAGE', '--oauth-claim and --oauth-name go with --oauth-issuer.');
    return {};
  }
  if (claim === '') refuse('USAGE', '--oauth-claim takes a name.');
  const names = oauthName === undefined ? null : namesIn(oauthName);
  return { access: { issuer, claim: claim ?? 'sub', names } };
}

function secretIn(path: string): string {
  const secret = textIn(path).trimEnd();
  return secret === '' ? refuse('USAGE', `${path} holds no secret.`) : secret;
}

function textIn(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    return refuse('FILE_UNREADABLE', `${path} cannot be read (${code}).`, { path, errno: code });
  }
}

/** Of two names for one value, the last one would count. */
function namesIn(texts: readonly string[]): ReadonlyMap<string, string> {
  const names = new Map(texts.map(namedIn));
  if (names.size < texts.length) refuse('USAGE', '--oidc-name and --oauth-name take each VALUE once.');
  return names;
}

function namedIn(text: string): [string, string] {
  const at = text.lastIndexOf('=');
  if (at <= 0 || at === text.length - 1) refuse('USAGE', '--oidc-name and --oauth-name take VALUE=NAME.');
  return [text.slice(0, at), text.slice(at + 1)];
}

export function execute(call: Call): Promise<Answer> {
  const most = mostOf(call);
  const { controlPlane } = call.options;
  return stoppable(call, async (keyturn, rest) =>
    keyturn.host.execute({
      ...rest,
      most,
      ...(controlPlane !== undefined && {
        control_plane: (await import('../control-plane.ts')).controlPlaneAt(keyturn, controlPlane),
      }),
      onReady: () => {
        say(2, `Runs what is ordered for ${keyturn.config.executor}. Ctrl-C ends it.`);
        void sayWhatIsMissing(keyturn, controlPlane === undefined);
      },
    }),
  );
}

/** In a container, or on a host that joined a ledger, it is usual, and otherwise only the first run would tell. */
async function sayWhatIsMissing({ host }: Keyturn, issues: boolean): Promise<void> {
  await sayIfRefused('No tool with a sandbox runs here', async () => requireAnySandbox());
  if (issues) await sayIfRefused('Nothing that is ordered runs here', host.requireControlKey);
}

async function sayIfRefused(what: string, act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    const { code, message, advice } = refusalFrom(error);
    say(2, `${what} (${code}): ${message} ${advice}`);
  }
}

interface Stopped {
  readonly signal: AbortSignal;
  readonly grace_ms: number;
  readonly tell: (executed: Executed) => void;
}

function stoppable(call: Call, act: (keyturn: Keyturn, rest: Stopped) => Promise<void>): Promise<Answer> {
  return writingHere(call, async (keyturn) => {
    const { signal, letGo } = untilStopped();
    try {
      await act(keyturn, {
        signal,
        grace_ms: webLimits.grace_ms,
        tell: (executed) => say(2, lineOf(executed)),
      });
    } finally {
      letGo();
    }
    return { result: { stopped: true }, lines: ['[OK] Stopped'] };
  });
}

function lineOf({ intent_id, tool, outcome, code }: Executed): string {
  return `${intent_id}  ${visible(tool)}  ${outcome}${code === null ? '' : `  ${code}`}`;
}

function mostOf({ options: { parallel } }: Call): number {
  if (parallel === undefined) return availableParallelism();
  if (!/^[1-9][0-9]{0,2}$/.test(parallel)) refuse('USAGE', '--parallel takes a number from 1 to 999.');
  return Number(parallel);
}
