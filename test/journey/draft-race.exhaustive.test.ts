import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { authority, kinds, proposeSay } from './authority.ts';

const SCRIPT = fileURLToPath(new URL('./finishing.ts', import.meta.url));

function finishing(root: string, file: string): { child: ChildProcess; line: () => Promise<string> } {
  const child = spawn(process.execPath, ['--import', 'tsx', SCRIPT, root, file], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  return { child, line: async () => String((await lines.next()).value) };
}

it('a turn whose proof two processes finish at once is given once', async () => {
  const p = await authority();
  for (let round = 0; round < 3; round++) {
    const intent = await proposeSay(p);
    const draft = await p.keyturn.draft(p.ada, (signer) => p.keyturn.intents.turn({ ...intent, signer }));
    const proofs = await p.ada.sign(draft.statements.map((one) => Buffer.from(one)));
    const file = join(p.root, `draft-${round}.json`);
    writeFileSync(file, JSON.stringify({ draft, proofs, intent }));
    const both = [finishing(p.root, file), finishing(p.root, file)];
    for (const { line } of both) expect(await line()).toBe('ready');
    for (const { child } of both) child.stdin!.write('go\n');
    const answers = await Promise.all(both.map(({ line }) => line()));
    expect(answers.filter((one) => one === 'ok')).toHaveLength(1);
    // The later one finds the claim of the act, or the order that the other one gave.
    expect(['CLAIM_TAKEN', 'ORDER_OPEN', 'ACT_CHANGED']).toContain(answers.find((one) => one !== 'ok'));
    const given = (await kinds(p, intent.intent_id)).filter((kind) => kind === 'order.given');
    expect(given).toHaveLength(1);
    expect((await p.keyturn.intents.get({ intent_id: intent.intent_id })).approvals).toHaveLength(1);
  }
  await p.keyturn.ledger.verify({ deep: true });
}, 60_000);
