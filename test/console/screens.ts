import { chmodSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { accepted, SERVERS, writeServers } from '../mcp-call/servers.ts';
import { freshSigner } from '../support/keys.ts';
import { type Person, reached, type Stage } from './stage.ts';

/** A project in which every screen has something to show, and how each is reached. */

const PLAN = {
  plan_id: 'invoice-vat',
  action_plan: [
    {
      action_id: 'schema',
      action_type: 'FILE_MODIFY',
      target: 'src/total.ts',
      operation: {
        type: 'text_replace',
        pattern: 'legacyVat(net)',
        replacement: 'vatFor(net, invoice.vat_number)',
      },
    },
    {
      action_id: 'drop',
      action_type: 'FILE_DELETE',
      target: 'src/legacy-vat.ts',
      operation: { type: 'delete' },
    },
  ],
};

export interface Furnished {
  readonly tool: string;
  readonly plan: string;
  readonly call: string;
  readonly ran: string;
  readonly execution: string;
}

export async function furnish(stage: Stage, ada: Person): Promise<Furnished> {
  stage.write(
    'src/total.ts',
    'import { legacyVat } from "./legacy-vat.js";\n\nexport function total(invoice: Invoice): number {\n  const net = sum(invoice.lines);\n  return net + legacyVat(net);\n}\n',
  );
  stage.write(
    'src/legacy-vat.ts',
    '// Kept for old invoices: see ticket 3310.\nexport const legacyVat = (net: number) => net * 0.19;\n',
  );
  stage.write('notes.md', '# Notes\n\nNothing yet.\n');
  const insert = {
    action_id: 'note',
    action_type: 'FILE_MODIFY',
    target: 'notes.md',
    operation: { type: 'line_insert', line_number: 1, content: 'bot was here.' },
  };
  const ran = await stage.propose({
    issuer: 'docs-bot',
    declared_goal: 'Add a line to the notes',
    effect: {
      kind: 'plan',
      task_id: 'note',
      config: null,
      plan: { plan_id: 'add-a-note', action_plan: [insert] },
    },
  });
  await open(ada.page, `/decide/${ran.intent_id}`);
  await reached(ada, 'ready');
  await ada.page.keyboard.press('a');
  await reached(ada, 'done');
  await stage.keyturn.intents.waitFor({ intent_id: ran.intent_id });
  const { runs } = await stage.keyturn.intents.get({ intent_id: ran.intent_id });
  const scout = freshSigner('scout');
  const { public_key } = scout;
  await stage.keyturn.people.enrol({ name: 'scout', principal: 'agent', public_key, signer: stage.ada });
  await stage.keyturn.agents.delegate({
    delegate: 'scout',
    actions: ['tool:say'],
    ttl_s: 1800,
    approves: true,
    reason: 'It greets customers.',
    grant: { uses: 20 },
    signer: stage.ada,
  });
  // It goes on while the screens are looked at.
  const going = await stage.propose({ effect: { kind: 'tool', tool: 'count', arguments: {} } });
  await open(ada.page, `/decide/${going.intent_id}`);
  await reached(ada, 'ready');
  await ada.page.keyboard.press('a');
  await reached(ada, 'done');
  const tool = await stage.propose({
    declared_goal:
      'Refund order 4471. The customer was charged twice on 12 November; support confirmed it in ticket 9083.',
    effect: {
      kind: 'tool',
      tool: 'refund',
      arguments: { charge: 'ch_3QK9vT2eZvKYlo2C', amount: 24000, currency: 'eur' },
    },
  });
  const plan = await stage.propose({
    issuer: 'docs-bot',
    declared_goal:
      'Give every invoice a VAT number and drop the old calculator, which nothing uses any more.',
    effect: { kind: 'plan', task_id: 'vat', config: null, plan: PLAN },
  });
  const call = await calledServer(stage);
  await stage.propose({ declared_goal: 'Greet the first customer of the day' });
  stage.write(
    'policies/no-refunds-at-night.cedar',
    '@id("no-refunds-at-night")\n@version("1")\n@scope("capability")\n@arguments("refund.amount: integer")\n@rationale("Large refunds wait for the day.")\nforbid (principal, action == Keyturn::Action::"grant", resource)\nwhen { context.arguments has refund && context.arguments.refund.amount > 50000 };\n',
  );
  return {
    tool: tool.intent_id,
    plan: plan.intent_id,
    call,
    ran: ran.intent_id,
    execution: runs[0]!.execution_id,
  };
}

/** A call of an agent that waits, to a real server that a human accepted. */
async function calledServer(stage: Stage): Promise<string> {
  const notes = join(stage.root, 'notes');
  mkdirSync(notes);
  chmodSync(notes, 0o777);
  const sandbox = { network: false, read: [resolve('node_modules')], write: [notes] };
  const more = { sandbox, run_as: 'nobody' };
  writeServers(stage.root, { files: { script: SERVERS.filesystem, args: ['{files}'], more } }, notes);
  await accepted(stage.keyturn, 'files', stage.ada);
  const content = '# Release 2.4\n\n- Invoices have a VAT number.\n- The old calculator is gone.\n';
  const { intent_id } = await stage.propose({
    issuer: 'docs-bot',
    declared_goal: 'Call files__write_file for an agent',
    effect: {
      kind: 'mcp',
      server: 'files',
      tool: 'write_file',
      arguments: { path: join(notes, 'release-2.4.md'), content },
    },
  });
  return intent_id;
}

export const open = (page: Page, route: string) =>
  page.evaluate((to) => {
    location.hash = to;
  }, route);

/** Each screen, and what is there once it is drawn. */
export const screensOf = ({
  tool,
  plan,
  call,
  ran,
  execution,
}: Furnished): readonly (readonly [string, string, string])[] => [
  ['tool', `/decide/${tool}`, '.dock[data-state="ready"]'],
  ['plan', `/decide/${plan}`, '.dock[data-state="ready"]'],
  ['mcp', `/decide/${call}`, '.dock[data-state="ready"]'],
  ['running', '/running', '.list li'],
  ['history', '/history', '.list li'],
  ['story', `/story/${ran}`, '.story li'],
  ['undo', `/undo/${execution}`, '.steps li'],
  ['conversations', '/conversations', '.page p:not([aria-busy])'],
  ['policies', '/policies', '.dock'],
  ['tools', '/tools', '.list li'],
  ['grants', '/grants', '.head'],
  ['people', '/people', '.deed'],
  ['agents', '/agents', '.deed'],
  ['ledger', '/ledger', '.entries li'],
  ['health', '/health', '.steps li'],
  ['figures', '/figures', '.plot'],
];
