import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { COMMANDS } from '../../src/cli/commands.ts';
import { ANSWERED_NO, answerJsonSchema, hereSchemas, resultSchemas } from '../../src/cli/schema.ts';
import { VERBS } from '../../src/face/verbs.ts';

const HOST = 'about this host or another store: there is no project to ask, or it is not open';
const SESSION = 'about what this account keeps of a service: no project is asked';
const SECRET = 'a secret of the service on this host, which tells it to this account alone';
const REACHES =
  'starts or writes to what only a file of this host names: no caller from elsewhere may ask for it';
const SEVERAL = 'one sitting of a human: the outputs of several verbs';
const STREAM = 'no answer, but what is told until the process ends';
const FILES = 'about files of another program on this host';
const OFFLINE = 'works without a project';
const BOTH =
  'in a project the output of `ledger.entries`; a file has no project to ask, and what was verified and the story stand beside its entries';

/** The commands whose `--json` is not the output of a verb, and why. docs/cli.md has the same in its chapter about JSON. */
const OWN: Readonly<Record<string, string>> = {
  init: HOST,
  doctor: HOST,
  backup: HOST,
  restore: HOST,
  'store join': HOST,
  'store copy': HOST,
  'store migrate': HOST,
  'store repair': HOST,
  login: SESSION,
  logout: SESSION,
  link: SECRET,
  'notify test': REACHES,
  'mcp diff': REACHES,
  attenuate: OFFLINE,
  explain: OFFLINE,
  completion: OFFLINE,
  'ledger show': BOTH,
  review: SEVERAL,
  turn: SEVERAL,
  hook: FILES,
  'hook install': FILES,
  'hook remove': FILES,
  'hook status': FILES,
  'mcp config': FILES,
  'mcp import': FILES,
  mcp: STREAM,
  serve: STREAM,
  execute: STREAM,
  watch: STREAM,
};

/** What a command makes on this host stands beside the output: a secret, or the file that it is in. */
const HERE = ['grant', 'identity add', 'token add'];

const outputs = new Set<z.ZodType>(
  Object.values(VERBS).flatMap((verbs) => Object.values(verbs).map((verb) => verb.output())),
);

function isOutput(schema: z.ZodType): boolean {
  if (outputs.has(schema)) return true;
  return schema instanceof z.ZodUnion && schema.options.every((one) => isOutput(one as z.ZodType));
}

describe('what --json prints', () => {
  it('is the output of a verb, but for commands that are named here', () => {
    const own = Object.entries(resultSchemas()).filter(([, schema]) => !isOutput(schema));
    expect(own.map(([command]) => command).sort()).toEqual(Object.keys(OWN).sort());
  });

  it('is explained in docs/cli.md where it is no output', () => {
    const rows = [...new Set(Object.values(OWN))].map((why) => {
      const commands = Object.keys(OWN).filter((command) => OWN[command] === why);
      return `| ${commands.map((command) => `\`${command}\``).join(', ')} | ${why} |`;
    });
    const text = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8');
    const [, table = ''] = text.split(
      '| command | why its `result` is not the output of a verb |\n| --- | --- |\n',
    );
    expect(table.split('\n\n')[0]).toBe(rows.join('\n'));
  });

  it('has a file or a secret beside the output, for commands that are named here', () => {
    expect(Object.keys(hereSchemas()).sort()).toEqual(HERE);
  });

  it('is the same for a no that the verb answered as for a yes', () => {
    const { $defs } = answerJsonSchema() as { readonly $defs: Readonly<Record<string, Answer>> };
    const named = (kind: string, command: string) => $defs[`${kind}-${command.replace(' ', '-')}`]!;
    for (const command of ANSWERED_NO) {
      const [no, yes] = [named('no', command), named('answer', command)];
      expect(no.properties.ok.const).toBe(false);
      expect(no.required).toContain('result');
      expect(no.properties.result).toEqual(yes.properties.result);
    }
    expect($defs.problem!.properties.result).toBeUndefined();
  });

  it('is said for every command', () => {
    expect(Object.keys(resultSchemas()).sort()).toEqual(COMMANDS.map(({ name }) => name).sort());
  });
});

interface Answer {
  readonly required: readonly string[];
  readonly properties: { readonly ok: { readonly const: boolean }; readonly result?: object };
}
