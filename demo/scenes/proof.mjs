import { executionOf } from '../stage.mjs';

/** What the ledger proves to an outsider. */
export function proof(stage, id) {
  const { title, run, prompt, write, output, result } = stage;
  title(
    'What happened can be proved',
    'The ledger verifies from its bytes; a small file proves one intent to an outsider.',
  );
  run(['ledger', 'verify', '--deep']);
  run(['show', id]);
  run(['replay', executionOf(stage, id)]);
  write('head.txt', run(['ledger', 'head']));
  prompt(['ledger', 'prove', id, '--out', 'proof.json']);
  write('proof.json', output(['ledger', 'prove', id]));
  run(['ledger', 'verify', '--bundle', 'proof.json', '--key', result(['ledger', 'head']).key]);
}
