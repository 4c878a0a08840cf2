import { readFileSync } from 'node:fs';
import { executePlan } from '../../../src/plan/engine/execute.ts';
import type { PlanEffect } from '../../../src/plan/model.ts';
import { loadManifest } from '../../../src/plan/rollback/manifest.ts';
import { rollBack } from '../../../src/plan/rollback/roll-back.ts';
import { journalOf, pipelinesOf, REPORTS } from './story.ts';

/** A process of its own that runs a plan, or rolls one back, so that it can be killed. */
const [task, root, effect_file] = process.argv.slice(2) as [string, string, string];
process.stdout.write('ready\n');
if (task === 'run') {
  const effect = JSON.parse(readFileSync(effect_file, 'utf8')) as PlanEffect;
  const outcome = await executePlan(effect, {
    root,
    reports_folder: REPORTS,
    runners: { pipelines: pipelinesOf(root) },
  });
  process.stdout.write(`${outcome.status}\n`);
} else {
  const outcome = await rollBack(loadManifest(root, REPORTS), { root, journal: journalOf(root) });
  process.stdout.write(`${outcome.status}\n`);
}
