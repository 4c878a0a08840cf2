/**
 * `npm run eval:finder`: how well the finder hears the shipped utterances. The first table is about the sets that came with the catalog of
 * `test/agent/corpus`; its frozen half was written before the finder was tuned. Then come two sets in domains that no tuning saw: the
 * held-out one, written before the rules for sayings by their author, and the independent one, by a second author (`test/finder/`). Of those only totals are printed.
 *
 * `-- tuning` prints what the finder gets wrong in the tuning parts, to tune it by. `-- --cases NAME` prints single cases of the set of that
 * name: for after all tuning, because a developer who has read them can tune to them.
 */

import { corpusCatalog, figuresOf, hearAll, PARTS, UNSEEN, utterancesOf } from '../test/agent/evaluate.ts';
import { hearHeldOut, hearHeldOutAnswers, SETS, wilson } from '../test/finder/held-out.ts';

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

const share = (name, some, all, target = '') => {
  const [low, high] = wilson(some, all);
  const value = all === 0 ? '-' : (some / all).toFixed(3);
  row([name, value, `${some} of ${all}`, `${low.toFixed(3)}-${high.toFixed(3)}`, target]);
};
/** The sets that came with the catalog, as far as people may look at them or not. */
for (const { part, heard } of parts.filter(({ part }) => part === 'tuning' || part === 'frozen'))
  for (const by of ['kind', 'language']) {
    console.log();
    row([`${part} set, by ${by}`, 'right one leads', 'cases', '95 % interval', 'wrong']);
    for (const value of new Set(heard.map(({ utterance }) => utterance[by]))) {
      const all = heard.filter(({ utterance }) => utterance[by] === value);
      share(
        value,
        all.filter(({ top1 }) => top1).length,
        all.length,
        all.filter(({ wrong }) => wrong).length,
      );
    }
  }
const right = (all) => all.filter((one) => one.right).length;
const matched = (all) => all.filter((one) => one.matched).length;
const inLanguage = (all) => all.filter((one) => one.language_right).length;

function printTotals(heard, answers) {
  const of = (outcome) => heard.filter(({ utterance }) => utterance.expect.outcome === outcome);
  const told = (means) => answers.filter(({ answer }) => answer.means === means);
  const heardAs = (means, read) => told(means).filter((one) => one.read === read).length;
  const false_yes = answers.filter(({ answer, read }) => read === 'YES' && answer.means !== 'yes').length;
  share('requests: the right one leads', right(of('request')), of('request').length, '>= 0.93');
  share('no requests: matched', matched(of('none')), of('none').length, '<= 0.03');
  share('several requests: matched', matched(of('several')), of('several').length);
  share('run without a yes, not asked for', heard.filter(({ runs }) => runs).length, heard.length, '0');
  share('absent: found missing', right(of('missing')), of('missing').length, '>= 0.95');
  share('asked in the language of the user', inLanguage(heard), heard.length, '>= 0.97');
  share('answers: false yes', false_yes, answers.length, '0');
  share('answers: clear noes heard', heardAs('no', 'NO'), told('no').length, '>= 0.97');
  share('answers: yes heard', heardAs('yes', 'YES'), told('yes').length);
}

function printKinds(heard) {
  row(['by kind of saying', 'matched', 'cases', '95 % interval', 'asked about', 'spoken of', 'right']);
  for (const kind of new Set(heard.map(({ utterance }) => utterance.kind))) {
    const all = heard.filter(({ utterance }) => utterance.kind === kind);
    const [low, high] = wilson(matched(all), all.length);
    row([
      kind,
      (matched(all) / all.length).toFixed(3),
      `${matched(all)} of ${all.length}`,
      `${low.toFixed(3)}-${high.toFixed(3)}`,
      all.filter(({ finding }) => finding.packet.kind === 'CLARIFY').length,
      all.filter(({ finding }) => finding.packet.reason_code === 'NOTHING_ASKED').length,
      right(all),
    ]);
  }
}

function printLanguages(heard, answers) {
  row([
    'by language',
    'requests right',
    'cases',
    '95 % interval',
    'no request',
    'missing',
    'language',
    'noes',
    'yeses',
  ]);
  for (const language of new Set(heard.map(({ utterance }) => utterance.language))) {
    const all = heard.filter(({ utterance }) => utterance.language === language);
    const of = (outcome) => all.filter(({ utterance }) => utterance.expect.outcome === outcome);
    const told = (means) =>
      answers.filter(({ answer }) => answer.language === language && answer.means === means);
    const heardAs = (means, read) =>
      `${told(means).filter((one) => one.read === read).length} of ${told(means).length}`;
    const [low, high] = wilson(right(of('request')), of('request').length);
    row([
      language,
      (right(of('request')) / of('request').length).toFixed(3),
      `${right(of('request'))} of ${of('request').length}`,
      `${low.toFixed(3)}-${high.toFixed(3)}`,
      `${matched(of('none'))} of ${of('none').length}`,
      `${right(of('missing'))} of ${of('missing').length}`,
      `${inLanguage(all)} of ${all.length}`,
      heardAs('no', 'NO'),
      heardAs('yes', 'YES'),
    ]);
  }
}

function printCases(heard, answers) {
  heard.filter((one) => !one.right || one.runs).forEach(printFailure);
  for (const { answer, read } of answers)
    if ((read === 'YES' && answer.means !== 'yes') || (answer.means === 'no' && read !== 'NO'))
      console.log(`- answer ${answer.language} ${answer.text}: ${answer.means}, read ${read}`);
}

const shown = process.argv[process.argv.indexOf('--cases') + 1];
for (const set of SETS) {
  const heard = hearHeldOut(set);
  const answers = hearHeldOutAnswers(set);
  console.log();
  row([`${set} set`, 'figure', 'cases', '95 % interval', 'reach']);
  printTotals(heard, answers);
  console.log();
  printKinds(heard);
  console.log();
  printLanguages(heard, answers);
  if (process.argv.includes('--cases') && shown === set) printCases(heard, answers);
}
