import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openSealed } from '../../src/canonical/sealed.ts';
import { auditProof, excerptOfExportFile, excerptOfProof } from '../../src/keyturn.ts';
import type { ReasonCode } from '../../src/refusal.ts';
import { picture } from '../plan/engine/story.ts';
import { entriesAbout, exported, proofOf } from '../support/ledger.ts';
import type { Project } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import {
  create,
  enrolled,
  expectProvable,
  planOf,
  planProjects,
  proposed,
  remove,
  replace,
  run,
  runnable,
  undo,
  when,
} from './plan-story.ts';

/** A new file whose content is a file of the project, which the plan names. */

const planProject = planProjects();

const taken = (action_id: string, target: string, content_file: string, more = {}) => ({
  action_id,
  action_type: 'FILE_CREATE',
  target,
  operation: { type: 'create', content_file },
  ...more,
});
const PLAN = planOf([taken('1', 'new', 'big')]);

describe('a content file', () => {
  it.each<[string, ReasonCode, (path: string) => void]>([
    ['is a link', 'FILE_IS_SYMLINK', (path) => symlinkSync('other', path)],
    ['is a link to nothing', 'FILE_IS_SYMLINK', (path) => symlinkSync('nothing', path)],
    ['is a pipe', 'FILE_NOT_REGULAR', (path) => execFileSync('mkfifo', [path])],
    ['is a folder', 'FILE_NOT_REGULAR', (path) => mkdirSync(path)],
    ['is missing', 'FILE_NOT_FOUND', () => {}],
    ['holds a credential', 'CONTENT_CREDENTIAL', (path) => writeFileSync(path, KEY)],
  ])('that %s is refused when the plan is proposed', async (_, code, make) => {
    const p = await planProject({ other: 'x\n' });
    make(join(p.root, 'big'));
    const before = picture(p.root);
    await expectRefusal(code, () => proposed(p, PLAN));
    expect(picture(p.root)).toEqual(before);
  });

  it.each<[string, ReasonCode, (path: string) => void]>([
    ['has another content', 'PLAN_DRIFT', (path) => writeFileSync(path, 'two\n')],
    ['is gone', 'FILE_NOT_FOUND', (path) => rmSync(path)],
    ['became a link', 'FILE_IS_SYMLINK', (path) => replaced(path, () => symlinkSync('other', path))],
    ['became a folder', 'FILE_NOT_REGULAR', (path) => replaced(path, () => mkdirSync(path))],
    ['became a pipe', 'FILE_NOT_REGULAR', (path) => replaced(path, () => execFileSync('mkfifo', [path]))],
  ])('that %s since the proposal is refused, and nothing is written', async (_, code, change) => {
    const p = await planProject({ big: 'one\n', other: 'one\n' });
    const intent = await runnable(p, PLAN);
    change(join(p.root, 'big'));
    await expectRefusal(code, () => run(p, intent));
    expect(Object.keys(picture(p.root))).not.toContain('new');
  });

  it('that changes while the human reads is refused after the y', async () => {
    const p = await planProject({ big: 'one\n' });
    const intent = await runnable(p, PLAN);
    const confirm = async () => {
      writeFileSync(join(p.root, 'big'), 'two\n');
      return true;
    };
    await expectRefusal('PLAN_DRIFT', () => run(p, intent, { confirm }));
    expect(Object.keys(picture(p.root))).not.toContain('new');
  });

  it('that changes during the run fails the action, and everything is rolled back', async () => {
    const p = await planProject({ big: 'one\n' });
    const before = picture(p.root);
    const plan = planOf([create('1', 'first'), taken('2', 'new', 'big', { depends_on: ['1'] })]);
    const intent = await runnable(p, plan);
    const report = await run(
      p,
      intent,
      when('2', () => writeFileSync(join(p.root, 'big'), 'two\n')),
    );
    expect(report).toMatchObject({ result: 'rolled_back', reason_code: 'PLAN_DRIFT' });
    const after = picture(p.root);
    expect(Object.keys(after)).not.toContain('new');
    expect(Object.keys(after).filter((path) => !path.startsWith('.'))).toEqual(
      Object.keys(before).filter((path) => !path.startsWith('.')),
    );
  });

  it('is read as an earlier action of the plan leaves it, and an undo brings everything back', async () => {
    const p = await planProject({ big: 'one\n', old: 'x\n' });
    const plan = planOf([
      replace('1', 'big', 'one', 'two'),
      taken('2', 'copy', 'big', { depends_on: ['1'] }),
      taken('3', 'again', 'copy', { depends_on: ['2'] }),
      remove('4', 'old'),
    ]);
    const intent = await runnable(p, plan);
    const report = await run(p, intent);
    expect(report.result).toBe('success');
    expect(readFileSync(join(p.root, 'again'), 'utf8')).toBe('two\n');
    expect((await undo(p, report)).status).toBe('rolled_back');
    expect(readFileSync(join(p.root, 'big'), 'utf8')).toBe('one\n');
    expect(Object.keys(picture(p.root))).not.toContain('again');
    await expectProvable(p);
  });

  it('that is protected does not run on one approval, and runs on two', async () => {
    const p = await planProject({ 'package.json': '{}\n' });
    const bob = await enrolled(p, 'bob');
    const eve = await enrolled(p, 'eve');
    const plan = planOf([taken('1', 'copy.json', 'package.json')]);
    const { intent_id, hash } = await proposed(p, plan, { issuer: 'ada' }, p.ada);
    await p.keyturn.intents.approve({ intent_id, hash, signer: bob });
    await expectRefusal('APPROVAL_MISSING', () => p.keyturn.intents.grant({ intent_id, hash, signer: bob }));
    await p.keyturn.intents.approve({ intent_id, hash, signer: eve });
    await p.keyturn.intents.grant({ intent_id, hash, signer: bob });
    expect((await run(p, { intent_id, hash })).result).toBe('success');
  });

  it('is in a proof and an export with objects, which verify, and in none without', async () => {
    const p = await planProject();
    const content = Buffer.alloc(300_000, 'twelve bytes');
    writeFileSync(join(p.root, 'big'), content);
    const intent = await runnable(p, PLAN);
    await run(p, intent);
    rmSync(join(p.root, 'big'));
    const { key } = await p.keyturn.ledger.head();
    const [digest] = await contentsIn(p, intent.intent_id);
    const proof = await proofOf(p.keyturn, intent.intent_id, { with_objects: true });
    const proven = excerptOfProof(auditProof(proof, { key }));
    expect(content.equals(openSealed((await proven.read(digest!)) as Uint8Array))).toBe(true);
    const bare = excerptOfProof(auditProof(await proofOf(p.keyturn, intent.intent_id), { key }));
    expect(await bare.read(digest!)).toBe('left out');

    const path = join(scratch(), 'ledger.jsonl');
    writeFileSync(path, await exported(p.keyturn, { with_objects: true }));
    const asked = { subjects: [intent.intent_id], limit: 5, key };
    const excerpt = await excerptOfExportFile(path, asked);
    expect(content.equals(openSealed((await excerpt.read(digest!)) as Uint8Array))).toBe(true);
    await expectProvable(p);
  });
});

const KEY =
  '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END OPENSSH PRIVATE KEY-----\n';

function replaced(path: string, make: () => void): void {
  rmSync(path);
  make();
}

async function contentsIn({ keyturn }: Project, intent_id: string): Promise<string[]> {
  const [first] = await entriesAbout(keyturn, intent_id);
  return (first!.body as { contents: string[] }).contents;
}
