import { readFileSync } from 'node:fs';
import { type JsonObject, parseJson } from '../../canonical/json.ts';
import { visible } from '../../canonical/visible.ts';
import {
  type Delegation,
  onlyKeyOf,
  parseDuration,
  type Request,
  type Signer,
  type Result as Verb,
} from '../../keyturn.ts';
import { refuse } from '../../refusal.ts';
import { delegateOf, namesDelegate } from '../acting.ts';
import type { Answer, Call, Options } from '../answer.ts';
import { type Field, fieldLines } from '../fold.ts';
import { actAs, whoActs } from '../human.ts';
import { shortIds } from '../list-table.ts';
import { meantBy, requireId } from '../operand.ts';
import { painter } from '../paint.ts';
import { nextAt, type Opened, reading, writing } from '../project.ts';
import type { Result } from '../schema.ts';
import { fields, table } from '../table.ts';

/** A human lets the key of an agent do something for a while; or a delegate passes on what it was given. */
export function add(call: Call): Promise<Answer> {
  const [name = ''] = call.operands;
  const { options } = call;
  const ttl_s = parseDuration(options.ttl!);
  const actions = options.action!;
  const approves = options.approves ?? false;
  const reason = options.reason!;
  const grant = grantOf(options);
  if (approves && options.uses === undefined && actions.some((action) => action.startsWith('mcp:')))
    refuse(
      'USAGE',
      '--approves of an MCP server (mcp:…) goes with --uses: without it nothing counts its calls.',
    );
  namesDelegate(options);
  return writing(call, async (keyturn) => {
    const delegate = await delegateOf(keyturn, options);
    const delegate_key = await delegateKeyOf(keyturn, name, options);
    const pins = options.uses === undefined ? [] : (await keyturn.agents.pins({ actions })).pins;
    const parent = delegate === null ? {} : { delegation: delegate.delegation };
    const give = (signer: Signer) =>
      keyturn.agents.delegate({
        delegate: name,
        delegate_key,
        actions,
        ttl_s,
        approves,
        reason,
        signer,
        ...parent,
        ...grant,
      });
    const result = delegate
      ? await give(delegate.signer)
      : await actAs(keyturn, await whoActs(keyturn, options.as), give, (columns) =>
          screen(name, delegate_key, { options, pins }, columns),
        );
    return { result, lines: addedLines(keyturn, result) };
  });
}

/** With `--uses` it is a grant: so many calls, with arguments that fit the schema. */
function grantOf({ uses, schema, approves }: Options): Pick<Request<'agents.delegate'>, 'grant'> {
  if (uses === undefined) {
    if (schema !== undefined) refuse('USAGE', '--schema goes with --uses.');
    return {};
  }
  if (!/^[1-9][0-9]{0,4}$/.test(uses)) refuse('USAGE', '--uses takes a number from 1 to 10000.');
  if (!approves) refuse('USAGE', '--uses goes with --approves: a grant stands for the look of a human.');
  const values = schema === undefined ? {} : { arguments: schemaGiven(schema) };
  return { grant: { uses: Number(uses), ...values } as NonNullable<Request<'agents.delegate'>['grant']> };
}

/** The text itself, as the console prints it, or a file of it. */
function schemaGiven(given: string): JsonObject {
  const value = parseJson(isText(given) ? given : readFileSync(given));
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    refuse('GRANT_BOUNDS_MALFORMED', `${visible(given)} is no JSON Schema of an object.`);
  return value as JsonObject;
}

const isText = (schema: string) => schema.startsWith('{');

/**
 * A human compares the key that the screen shows. A delegate sees no screen, so with a service it names the key: one that the service told
 * could be a key of the service.
 */
async function delegateKeyOf(keyturn: Opened, name: string, { delegateKey }: Options): Promise<string> {
  if (delegateKey !== undefined) return delegateKey;
  if (keyturn.agent !== undefined) refuse('USAGE', `Name the key of ${visible(name)} with --delegate-key.`);
  return keyOf(keyturn, name);
}

/** Before a passphrase is typed. */
async function keyOf(keyturn: Opened, name: string): Promise<string> {
  const found = (await keyturn.people.list()).principals.find((principal) => principal.name === name);
  if (!found) refuse('PRINCIPAL_UNKNOWN', `"${visible(name)}" is not enrolled.`);
  if (found.status === 'revoked') refuse('KEY_REVOKED', `"${name}" was revoked.`);
  return onlyKeyOf(found);
}

function screen(
  name: string,
  key: string,
  { options, pins }: { readonly options: Options; readonly pins: Verb<'agents.pins'>['pins'] },
  columns: number,
): string[] {
  const { action = [], ttl, approves, uses, schema } = options;
  const paint = painter(true);
  const found: Field[] = [
    ['Delegate', [['bold', name]]],
    ['Key', visible(key)],
    ['Actions', action.map(visible).join(', ')],
    ...pins.map((one): Field => ['Tool', [visible(one.action), ' ', ['dim', visible(one.pin)]]]),
    ['For', ttl!],
    ...(uses === undefined ? [] : ([['Uses', uses]] as const)),
    ...(uses === undefined
      ? []
      : ([
          [
            'Arguments',
            schema === undefined
              ? [['alarm', 'ANY']]
              : `${isText(schema) ? '' : `as ${visible(schema)} says: `}${visible(JSON.stringify(schemaGiven(schema)))}`,
          ],
        ] as Field[])),
    ['Approves', approves ? [['alarm', 'YES: no human looks at what it submits']] : 'no, a human still does'],
  ];
  return fieldLines(found, { paint, columns });
}

function addedLines(
  keyturn: Opened,
  { delegation_id, delegate, actions, approves, expires_at, by }: Result<'delegation add'>,
) {
  return [
    `[OK] ${by} delegated ${actions.map(visible).join(', ')} to ${delegate}`,
    ...fields([
      ['Delegation', delegation_id],
      ['Until', expires_at],
      ['Approves', approves ? 'YES: what it submits needs no other approval' : 'no'],
      ['Next', nextAt(keyturn, `keyturn submit ID --delegation ${delegation_id} --agent-key FILE`)],
    ]),
  ];
}

export function list(call: Call): Promise<Answer> {
  return reading(call, async (keyturn) => {
    const result = await keyturn.agents.delegations();
    const { delegations } = result;
    if (delegations.length === 0) return { result, lines: ['Nothing is delegated.'] };
    const now = new Date();
    const short = shortIds(delegations.map(({ delegation_id }) => delegation_id));
    const rows = delegations.map((one) => [short(one.delegation_id), ...row(one, now)]);
    return { result, lines: table(['ID', 'STATUS', 'FROM', 'TO', 'APPROVES', 'UNTIL', 'ACTIONS'], rows) };
  });
}

function row({ status, chain, delegate, approves, expires_at, actions }: Delegation, now: Date): string[] {
  const shown = status === 'active' && Date.parse(expires_at) <= now.getTime() ? 'ended' : status;
  const from = chain.slice(0, -1).join(' > ');
  const words = actions.map(visible).join(', ');
  return [shown, from, delegate, approves ? 'YES' : 'no', expires_at, words];
}

export function revoke(call: Call): Promise<Answer> {
  const typed = requireId(call);
  const reason = call.options.reason!;
  return writing(call, async (keyturn) => {
    const name = await whoActs(keyturn, call.options.as);
    const delegation_id = await meantBy(keyturn, 'delegation', typed);
    const found = (await keyturn.agents.delegations()).delegations.find(
      (one) => one.delegation_id === delegation_id,
    );
    if (!found) refuse('DELEGATION_UNKNOWN');
    if (found.status === 'revoked') refuse('DELEGATION_REVOKED');
    const result = await actAs(keyturn, name, (signer) =>
      keyturn.agents.revokeDelegation({ delegation_id, reason, signer }),
    );
    return { result, lines: [`[OK] ${result.by} revoked the delegation to ${found.delegate}`] };
  });
}
