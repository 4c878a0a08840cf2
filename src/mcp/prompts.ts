import type { JsonObject } from '../canonical/json.ts';
import { ERRORS, wrong } from './message.ts';

const PROMPTS: Readonly<Record<string, { readonly description: string; readonly text: string }>> = {
  'propose-well': {
    description: 'How to ask for something through the gate so that a human can say yes quickly.',
    text: [
      'What you call here is shown to a human exactly as it will run. They approve it, reject it with a reason, or let it expire.',
      'Call one thing at a time, with the smallest effect that serves the goal, and with full paths and plain values.',
      'Say to your user what you asked for and why, before you wait.',
      'NOT RUN yet means that nothing happened. Ask keyturn_wait with the id until it says what became of it.',
      'IT RUNS means that it was sent. Do not call it again; ask keyturn_wait with the id for its result.',
      'A rejection has a reason. Read it, and propose something that meets it; do not propose the same again.',
      'IN DOUBT means that it is not known whether it happened. Do not call it again. Tell your user.',
      'For several file changes that belong together use keyturn_plan: it runs all or nothing, and can be rolled back.',
    ].join('\n'),
  },
};

export function listPrompts(): JsonObject[] {
  return Object.entries(PROMPTS).map(([name, { description }]) => ({ name, description }));
}

export function getPrompt(name: string): JsonObject {
  const found = Object.hasOwn(PROMPTS, name) ? PROMPTS[name] : undefined;
  if (!found) return wrong(ERRORS.params, `There is no prompt "${name}".`);
  const { description, text } = found;
  return { description, messages: [{ role: 'user', content: { type: 'text', text } }] };
}
