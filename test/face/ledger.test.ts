import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { VERBS } from '../../src/face/verbs.ts';
import { auditProof } from '../../src/keyturn.ts';
import { authority, granted, proposeSay, yes } from '../journey/authority.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import { runSeen } from '../support/seen.ts';

const fits = (name: string, { output }: { output: () => z.ZodType }, answer: unknown) => {
  expect(z.safeParse(output(), answer), name).toMatchObject({ success: true });
  // An answer of a verb is JSON, by whichever entry point it leaves.
  expect(JSON.parse(JSON.stringify(answer)), name).toEqual(answer);
};

it('every answer of ledger, of a story and of a status is what its schema says', async () => {
  const p = await authority();
  const { ledger, intents, system } = p.keyturn;
  const intent = await granted(p);
  await runSeen(p.keyturn, { ...intent, confirm: yes });
  const waiting = await proposeSay(p);
  await p.keyturn.intents.approve({ ...waiting, signer: p.ada });
  const { intent_id } = intent;
  const told = new Set<string>();
  const shows = <V extends keyof typeof VERBS.ledger>(verb: V, answer: unknown) => {
    told.add(verb);
    fits(verb, VERBS.ledger[verb], answer);
  };

  const { entries } = await ledger.entries({ subject: intent_id, with_decisions: true });
  shows('entries', { entries, next: null, looked: entries.length });
  shows('entries', await ledger.entries({ limit: 3 }));
  const head = await ledger.head();
  shows('since', await ledger.since({ from: 0 }));
  shows('head', head);
  shows('verify', await ledger.verify({ kept: [head.text], key: head.key, deep: true }));
  shows('verifyStore', await ledger.verifyStore({}));
  shows('rebuild', await ledger.rebuild({ write: false }));
  let bytes = 0;
  const to = async (chunks: AsyncIterable<Uint8Array>) => {
    for await (const { length } of chunks) bytes += length;
  };
  shows('export', await ledger.export({ with_objects: true, to }));
  expect(bytes).toBeGreaterThan(1_000);
  const proof = await ledger.prove({ intent_id, with_objects: true });
  shows('prove', proof);
  expect(auditProof(Buffer.from(proof.bundle), { key: head.key }).subject).toBe(intent_id);
  const digest = entries.find(({ kind }) => kind === 'approval.granted')!.body.decision as string;
  shows('decision', await ledger.decision({ digest }));
  const object = await ledger.object({ digest });
  shows('object', object);
  expect(Buffer.from(object.base64, 'base64')).toHaveLength(object.bytes);

  fits('story', VERBS.intents.story, await intents.story({ intent_id, with_output: true }));
  fits('status', VERBS.system.status, await system.status());

  const { outputs } = await intents.story({ intent_id });
  const erased = { digest: outputs[0]!.stdout! };
  shows('explainErase', await ledger.explainErase(erased));
  shows('erase', await ledger.erase({ ...erased, reason: 'a test', signer: p.ada }));
  fits('story', VERBS.intents.story, await intents.story({ intent_id, with_output: true }));
  const out = join(scratch(), 'old.jsonl');
  shows('archive', await ledger.archive({ older_than_s: 0, out, reason: 'a test', signer: p.ada }));
  shows('acceptHead', await ledger.acceptHead({ reason: 'a test', signer: p.ada }));
  expect([...told].sort()).toEqual(Object.keys(VERBS.ledger).sort());
});

it('a digest and an id that are none are refused as such', async () => {
  const { ledger } = (await authority()).keyturn;
  for (const verb of ['object', 'decision', 'explainErase'] as const)
    await expectRefusal('HASH_MALFORMED', () => ledger[verb]({ digest: 'x' }));
  await expectRefusal('ID_MALFORMED', () => ledger.prove({ intent_id: 'x' }));
  await expectRefusal('OBJECT_MISSING', () => ledger.object({ digest: '0'.repeat(64) }));
});

it('entries can be followed as they come, from any one on', async () => {
  const p = await authority();
  const stop = new AbortController();
  const from = (await p.keyturn.ledger.head()).size - 1;
  const seen: string[] = [];
  const following = (async () => {
    for await (const { kind } of p.keyturn.ledger.follow({ from, signal: stop.signal })) {
      seen.push(kind);
      if (seen.length === 1) void proposeSay(p);
      else stop.abort();
    }
  })();
  await following;
  expect(seen.at(-1)).toBe('intent.proposed');
  expect(seen).toHaveLength(2);
});
