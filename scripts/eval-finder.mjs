/**
 * `npm run eval:finder`: how well the finder hears the shipped utterances. The frozen half was written before the finder
 * was tuned and is reported apart. `-- tuning` prints what the finder gets wrong in the tuning parts, to tune it by; what
 * it gets wrong in the frozen half and in the unseen natural half is not printed, so that it cannot be tuned for.
 */

import { corpusCatalog, figuresOf, hearAll, PARTS, UNSEEN, utterancesOf } from '../test/agent/evaluate.ts';

const catalog = corpusCatalog();
const parts = PARTS.map((part) => ({ part, heard: hearAll(catalog, utterancesOf(part)) }));

function printFailure({ utterance, finding }) {
  const best = finding.candidates
    .slice(0, 3)
    .map(({ entry, confidence_bp }) => `${entry.simulation.id} ${confidence_bp}`);
  console.log(`- ${utterance.text}\n    expected ${JSON.stringify(utterance.expect)}`);
  console.log(`    got ${finding.packet.reason_code} [${best.join(', ')}]`);
}

if (process.argv.includes('tuning'))
  for (const { heard } of parts.filter(({ part }) => !UNSEEN.includes(part)))
    heard.filter(({ exact }) => !exact).forEach(printFailure);

const row = (cells) => console.log(cells.map((cell, i) => String(cell).padEnd(i === 0 ? 22 : 16)).join(''));
const figures = parts.map(({ heard }) => figuresOf(heard));
const line = (name, key, target) => row([name, ...figures.map((part) => part[key].toFixed(3)), target]);
row(['', ...PARTS, 'asked for']);
row(['utterances', ...figures.map(({ utterances }) => utterances), '>= 400']);
line('top-1 accuracy', 'top1_accuracy', '>= 0.95');
line('wrong dispatches', 'wrong_dispatches', '<= 0.01');
line('true missing found', 'missing_found', '>= 0.98');
line('exact outcomes', 'exact_outcomes', '');
