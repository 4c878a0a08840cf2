import { derive, modify, plan, remove } from '../engine/story.ts';

/** Derives a plan as whatever user this process has: `derive-child.ts ROOT modify|remove PATH`. Prints the reason code, or "ok". */
const [root, kind, path] = process.argv.slice(2) as [string, string, string];
const action = kind === 'modify' ? modify('1', path, 'one', 'two') : remove('1', path);
try {
  await derive(root, plan([action]));
  console.log('ok');
} catch (error) {
  console.log((error as { code?: string }).code ?? String(error));
}
