import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Project, ready, writeRegistry, writeSecrets } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import { planOf, planProjects, proposed, run } from './plan-story.ts';

/** Neither it nor what follows from it stands in a file of this test as it is. */
const VALUE = `token-${'value'.split('').reverse().join('')}-4711`;

const LEAK = `#!/bin/sh
test "\${#TOKEN}" -eq 16 || exit 9
echo "plain $TOKEN"
printf 'user:%s' "$TOKEN" | base64
printf '%s' "$TOKEN" | cut -c 1-8 | tr -d '\\n'
sleep 0.05
printf '%s' "$TOKEN" | cut -c 9-
echo "error $TOKEN" >&2
echo "$TOKEN" > /dev/null
exit \${1:-0}
`;

const REGISTRY = `version: 1
tools:
  - name: leak
    summary: Prints what it should not.
    executable: ./leak.sh
    args: ["{code}"]
    parameters: { code: { type: integer, default: 0, required: false } }
    secrets: { TOKEN: api.token }
    sandbox: none
    undo: none
pipelines:
  - { name: leaks, summary: One step., steps: [{ tool: leak, arguments: { code: 0 } }] }
  - { name: fails, summary: One step., steps: [{ tool: leak, arguments: { code: 3 } }] }
`;

const projects = planProjects();

async function leaking(): Promise<Project> {
  const p = await projects({}, REGISTRY);
  writeFileSync(join(p.root, 'leak.sh'), LEAK, { mode: 0o755 });
  const file = join(scratch(), 'token');
  writeFileSync(file, `${VALUE}\n`, { mode: 0o600 });
  writeSecrets(p.root, { 'api.token': { file } });
  return p;
}

async function proposedCall({ keyturn }: Project, args = {}) {
  const effect = { kind: 'tool' as const, tool: 'leak', arguments: args };
  return keyturn.intents.propose({ issuer: 'ada', declared_goal: 'Leak.', effect });
}

/** Every file beneath, with its bytes. */
function filesIn(folder: string): (readonly [string, Buffer])[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => [path, readFileSync(path)] as const);
}

/** No file of the project holds it: ledger, objects, journals, reports, logs. */
function expectNowhere({ root }: Project): void {
  const forms = [VALUE, Buffer.from(`user:${VALUE}`).toString('base64').slice(8, -4)];
  const holding = filesIn(root).filter(([, bytes]) => forms.some((form) => bytes.includes(form)));
  expect(holding.map(([path]) => path)).toEqual([]);
}

describe('a secret of the executor', () => {
  it('reaches the tool, and its output has the name in its place', async () => {
    const p = await leaking();
    const intent = await proposedCall(p);
    await ready(p, intent);
    expect(await run(p, intent)).toMatchObject({ result: 'success' });
    const { run: latest } = await p.keyturn.intents.result({ intent_id: intent.intent_id });
    expect(latest?.output).toMatchObject({ stderr: 'error [secret api.token]\n' });
    const { stdout } = latest!.output as { stdout: string };
    expect(stdout).toMatch(
      /^plain \[secret api\.token\]\n.{0,8}\[secret api\.token\].{0,4}\n\[secret api\.token\]\n$/,
    );
    expectNowhere(p);
  });

  it('is kept out of what is told while the tool runs', async () => {
    const p = await leaking();
    const { intent_id, hash } = await proposedCall(p);
    await ready(p, { intent_id, hash });
    const { seen } = await p.keyturn.runs.look({ intent_id, hash });
    const told: Uint8Array[] = [];
    const onOutput = (chunk: Uint8Array) => void told.push(chunk);
    await p.keyturn.runs.run({ intent_id, hash, seen, onOutput });
    const text = Buffer.concat(told).toString('utf8');
    expect(text).toContain('plain [secret api.token]');
    expect(text).not.toContain(VALUE);
    expect(text).not.toContain(VALUE.slice(8));
  });

  it('is named by the effect and on the screen, and its value is no part of the digest', async () => {
    const p = await leaking();
    const first = await proposedCall(p);
    const { effect, shown } = await p.keyturn.intents.review({ intent_id: first.intent_id });
    expect(effect).toMatchObject({ secrets: { TOKEN: 'api.token' } });
    expect(JSON.stringify(shown)).toContain('SECRETS: it gets secrets of the executor');
    writeSecrets(p.root, { 'api.token': { environment: 'HOME' } });
    const second = await proposedCall(p);
    expect((await p.keyturn.intents.review({ intent_id: second.intent_id })).effect).toEqual(effect);
    writeRegistry(p.root, REGISTRY.replace('TOKEN: api.token', 'TOKEN: other.token'));
    await expectRefusal('EFFECT_CHANGED', () =>
      p.keyturn.intents.approve({ intent_id: second.intent_id, hash: second.hash, signer: p.ada }),
    );
  });

  it.each(['leaks', 'fails'])('reaches a step of the pipeline %s, and nothing keeps it', async (target) => {
    const p = await leaking();
    const intent = await proposed(
      p,
      planOf([
        {
          action_id: 'A1',
          action_type: 'PIPELINE_RUN',
          target,
          operation: { type: 'pipeline_run', pipeline: target },
        },
      ]),
    );
    await ready(p, intent);
    // A step that found no secret ends with 9.
    const report = await run(p, intent);
    expect(report.result).toBe(target === 'leaks' ? 'success' : 'partial');
    expectNowhere(p);
  });

  it('that fails is told by its name, and the refusal is recorded by its code alone', async () => {
    const p = await leaking();
    const intent = await proposedCall(p);
    await ready(p, intent);
    writeSecrets(p.root, { 'api.token': { command: ['/bin/sh', '-c', `echo ${VALUE}; exit 1`] } });
    const { intent_id, hash } = intent;
    await expectRefusal('SECRET_UNREADABLE', () => p.keyturn.runs.look({ intent_id, hash }));
    await expectRefusal('SECRET_UNREADABLE', () => p.keyturn.intents.requireSecrets({ intent_id }));
    writeSecrets(p.root, {});
    expectNowhere(p);
  });

  it('can be asked for before anybody is asked', async () => {
    const p = await leaking();
    const { intent_id } = await proposedCall(p);
    expect(await p.keyturn.intents.requireSecrets({ intent_id })).toEqual({ secrets: ['api.token'] });
    writeSecrets(p.root, {});
    await expectRefusal('SECRET_MISSING', () => p.keyturn.intents.requireSecrets({ intent_id }));
  });

  it('comes from no file under version control', async () => {
    const p = await leaking();
    writeFileSync(join(p.root, 'keyturn.yaml'), 'version: 1\nsecrets: {}\n');
    const { Keyturn } = await import('../../src/keyturn.ts');
    await expectRefusal('SHAPE_INVALID', () => Keyturn.open({ at: p.root }));
  });
});
