import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runSeen } from '../support/seen.ts';
import type { Project } from './project.ts';

/** Runs a plan that changes these files, and returns its run. */
export async function ranPlan(
  project: Project,
  files: readonly string[],
  intent_id?: string,
): Promise<string> {
  for (const file of files) writeFileSync(join(project.folder, file), 'old\n');
  const action_plan = files.map((target, i) => ({
    action_id: `a${i}`,
    action_type: 'FILE_MODIFY',
    target,
    operation: { type: 'text_replace', pattern: 'old', replacement: 'new' },
  }));
  const plan = JSON.stringify({ plan_id: 'edit', action_plan });
  const { id, hash } = await project.inside(async (keyturn) => {
    const found = await keyturn.plans.read({ plan });
    if (!('spec' in found)) throw new Error(JSON.stringify(found.problems));
    const asked = await keyturn.intents.propose({
      ...(intent_id && { intent_id }),
      issuer: 'bot',
      declared_goal: 'Edit.',
      effect: { kind: 'plan', ...found.spec },
    });
    return { id: asked.intent_id, hash: asked.hash };
  });
  await project.ready({ id, hash });
  return project.inside(
    async (keyturn) =>
      (await runSeen(keyturn, { intent_id: id, hash, confirm: async () => true })).execution_id,
  );
}
