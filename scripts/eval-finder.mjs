/**
 * `npm run eval:finder`: how well the finder hears the shipped utterances. The first table is about the sets that came with the catalog of
 * `test/agent/corpus`; its frozen half was written before the finder was tuned. The second is about the held-out set of
 * `test/finder/held-out`: other domains, written before the rules for sayings were. Of those only totals are printed.
 *
 * `-- tuning` prints what the finder gets wrong in the tuning parts, to tune it by. `-- --held-out-cases` prints single cases of the held-out
 * set: for after all tuning, because whoever has read them can tune to them.
 */

import { corpusCatalog, figuresOf, hearAll, PARTS, UNSEEN, utterancesOf } from '../test/agent/evaluate.ts';
import { hearHeldOut, hearHeldOutAnswers, wilson } from '../test/finder/held-out.ts';

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

const row = (cells) => console.log(cells.map((cell, i) => String(cell).padEnd(i === 0 ? 34 : 16)).join(''));
const figures = parts.map(({ heard }) => figuresOf(heard));
const line = (name, key, target) => row([name, ...figures.map((part) => part[key].toFixed(3)), target]);
row(['', ...PARTS, 'asked for']);
row(['utterances', ...figures.map(({ utterances }) => utterances), '>= 400']);
line('top-1 accuracy', 'top1_accuracy', '>= 0.95');
line('wrong dispatches', 'wrong_dispatches', '<= 0.01');
line('true missing found', 'missing_found', '>= 0.98');
line('exact outcomes', 'exact_outcomes', '');

const heard = hearHeldOut();
const answers = hearHeldOutAnswers();
const share = (name, some, all, target = '') => {
  const [low, high] = wilson(some, all);
  const value = all === 0 ? '-' : (some / all).toFixed(3);
  row([name, value, `${some} of ${all}`, `${low.toFixed(3)}-${high.toFixed(3)}`, target]);
};
const of = (outcome) => heard.filter(({ utterance }) => utterance.expect.outcome === outcome);
const right = (all) => all.filter((one) => one.right).length;
const matched = (all) => all.filter((one) => one.matched).length;
const told = (means) => answers.filter(({ answer }) => answer.means === means);

console.log();
row(['held-out set', 'figure', 'cases', '95 % interval', 'reach']);
share('requests: the right one leads', right(of('request')), of('request').length, '>= 0.93');
share('no requests: matched', matched(of('none')), of('none').length, '<= 0.03');
share('several requests: matched', matched(of('several')), of('several').length);
share('run without a yes, not asked for', heard.filter(({ runs }) => runs).length, heard.length, '0');
share('absent: found missing', right(of('missing')), of('missing').length, '>= 0.95');
share(
  'asked in the language of the user',
  heard.filter((one) => one.language_right).length,
  heard.length,
  '>= 0.97',
);
share(
  'answers: false yes',
  answers.filter(({ answer, read }) => read === 'YES' && answer.means !== 'yes').length,
  answers.length,
  '0',
);
share(
  'answers: clear noes heard',
  told('no').filter(({ read }) => read === 'NO').length,
  told('no').length,
  '>= 0.97',
);
share('answers: yes heard', told('yes').filter(({ read }) => read === 'YES').length, told('yes').length);

console.log();
row(['by kind of saying', 'matched', 'cases', '95 % interval', 'asked about']);
for (const kind of new Set(heard.map(({ utterance }) => utterance.kind))) {
  const all = heard.filter(({ utterance }) => utterance.kind === kind);
  share(
    kind,
    matched(all),
    all.length,
    all.filter(({ finding }) => finding.packet.kind === 'CLARIFY').length,
  );
}

console.log();
row(['by language', 'requests right', 'cases', '95 % interval', 'no requests matched', 'language told']);
for (const language of new Set(heard.map(({ utterance }) => utterance.language))) {
  const mine = (all) => all.filter(({ utterance }) => utterance.language === language);
  const [requests, none, all] = [mine(of('request')), mine(of('none')), mine(heard)];
  const [low, high] = wilson(right(requests), requests.length);
  row([
    language,
    (right(requests) / requests.length).toFixed(3),
    `${right(requests)} of ${requests.length}`,
    `${low.toFixed(3)}-${high.toFixed(3)}`,
    `${matched(none)} of ${none.length}    `,
    `${all.filter((one) => one.language_right).length} of ${all.length}`,
  ]);
}

if (process.argv.includes('--held-out-cases')) {
  heard.filter((one) => !one.right || one.runs).forEach(printFailure);
  for (const { answer, read } of answers)
    if ((read === 'YES' && answer.means !== 'yes') || (answer.means === 'no' && read !== 'NO'))
      console.log(`- answer ${answer.language} ${answer.text}: ${answer.means}, read ${read}`);
}
