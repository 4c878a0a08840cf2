import { describe, expect, it } from 'vitest';
import { authority, call, proposeSay } from '../journey/authority.ts';
import { expectRefusal } from '../support/refusal.ts';

const NONE = '00000000-0000-4000-8000-000000000000';

async function turned(over = {}) {
  const p = await authority();
  const intent = await proposeSay(p, over);
  const { seen } = await p.keyturn.intents.turn({ ...intent, signer: p.ada });
  return { p, runs: p.keyturn.runs, asked: { ...intent, seen } };
}

describe('the report of a run', () => {
  it('is null until its end is recorded, and then what the run itself answered', async () => {
    const { runs, asked } = await turned(call('wait', { seconds: 60 }));
    const abort = new AbortController();
    let claimed: (execution_id: string) => void = () => {};
    const begun = new Promise<string>((done) => {
      claimed = done;
    });
    const run = runs.run({ ...asked, abort: abort.signal, onClaimed: claimed });
    const execution_id = await begun;
    expect(await runs.report({ execution_id })).toEqual({ run: null });
    abort.abort();
    const answered = await run;
    expect(answered.result).not.toBe('success');
    expect(answered.reason_code).not.toBeNull();
    expect(await runs.report({ execution_id })).toEqual({ run: answered });
    await expectRefusal('EXECUTION_NOT_FOUND', () => runs.report({ execution_id: NONE }));
  });

  it('tells how much was printed where that is not stored any more', async () => {
    const { p, runs, asked } = await turned();
    const { intent_id } = asked;
    const answered = await runs.run(asked);
    const { outputs } = await p.keyturn.intents.story({ intent_id });
    const { DatabaseSync } = await import('@photostructure/sqlite');
    const db = new DatabaseSync(p.keyturn.layout.store);
    db.exec(`DELETE FROM object WHERE digest = '${outputs[0]!.stdout}'`);
    db.close();
    const { run } = await runs.report({ execution_id: answered.execution_id });
    const left_out = { stdout: 'hello\n'.length, stderr: 0 };
    expect(run).toEqual({ ...answered, stdout: '', left_out });
  });
});
