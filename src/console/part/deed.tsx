import type { ComponentProps, ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { argument } from '../../canonical/visible.ts';
import { argvPieces } from '../../display/tool.ts';
import type { ToolEffect } from '../../tool/effect.ts';
import type { ShownEffect } from '../app.ts';
import { LookContext, QUIET, useLook, useSeenMark } from '../look.ts';
import { type EffectToDraw, plural, sentence } from '../words.ts';
import type * as diff from './diff.tsx';
import { Dig, Fold, LabelRow, type Pieces, PrintedText, ValueText } from './text.tsx';

type DiffProps = ComponentProps<typeof diff.DiffView>;

/** Drawn by a file that is asked for with the first plan: the first screen needs none of it. */
function DiffView(props: DiffProps) {
  const [Loaded, setLoaded] = useState<ComponentType<DiffProps> | null>(null);
  const look = useLook();
  const { label, place } = props;
  // Not seen while that file has not come.
  useEffect(() => look.expect(label, place?.action_id), [look, label, place?.action_id]);
  useEffect(() => {
    void import('./diff.tsx').then((loaded) => setLoaded(() => loaded.DiffView));
  }, []);
  return Loaded && <Loaded {...props} />;
}

/** Exactly what runs. All of it is drawn from the effect whose digest the page computed; of a plan, the diffs are the service's. */
export function DeedOf({ effect, shown }: { readonly effect: EffectToDraw; readonly shown: ShownEffect }) {
  if (effect.kind === 'tool') return <ToolDeed effect={effect} shown={shown} title="Exactly this runs" />;
  if (effect.kind === 'mcp') return <CallDeed effect={effect} shown={shown} />;
  const of = shown.parts.length;
  return (
    <div class="deeds">
      <Alarms shown={shown} />
      {shown.parts.map((part, i) => (
        <ActionDeed
          key={i}
          part={part}
          effect={effect.actions[i]!}
          place={of > 1 ? `${i + 1} of ${of}` : ''}
        />
      ))}
    </div>
  );
}

/** A call of a server: what the agent chose, then the definition in the words of the server, then how the server is started. */
function CallDeed({
  effect,
  shown,
}: {
  readonly effect: Extract<EffectToDraw, { kind: 'mcp' }>;
  readonly shown: ShownEffect;
}) {
  return (
    <div class="deeds">
      <section class="deed" aria-label="Exactly this is called">
        <header>
          <h2>Exactly this is called</h2>
          <span class="note">
            <ValueText pieces={shown.headline.value} label="the call" />
          </span>
        </header>
        <Alarms shown={shown} />
        <dl class="rows">
          {shown.fields
            .filter(({ weight }) => weight !== 'dim')
            .map(({ label, value, weight }, i) => (
              <LabelRow key={i} label={label} alarm={weight === 'alarm'}>
                <ValueText pieces={value} label={`${label} ${i + 1}`} />
              </LabelRow>
            ))}
        </dl>
        {shown.blocks.map((block, i) => (
          <BlockOf key={i} block={block} />
        ))}
      </section>
      {effect.start.kind === 'url' ? (
        <section class="deed" aria-label="So the server is reached">
          <header>
            <h2>So the server is reached</h2>
          </header>
          <dl class="rows">
            {shown.parts[0]!.fields.map(({ label, value }, i) => (
              <LabelRow key={i} label={label}>
                <ValueText pieces={value} label={`${label} ${i + 1}`} />
              </LabelRow>
            ))}
          </dl>
        </section>
      ) : (
        <ToolDeed
          effect={effect.start}
          shown={{ ...shown.parts[0]!, alarms: [] }}
          title="So the server is started"
        />
      )}
    </div>
  );
}

type Action = Extract<EffectToDraw, { kind: 'plan' }>['actions'][number];
const KINDS: Readonly<Record<string, string>> = {
  FILE_CREATE: 'New file',
  FILE_MODIFY: 'Change',
  FILE_DELETE: 'Delete',
  FILE_RENAME: 'Move',
  SCHEMA_UPDATE: 'Change',
  SQL_EXECUTE: 'SQL',
  PIPELINE_RUN: 'Pipeline',
};

/** Which change a diff is of: its title is the path, in the form in which no two look the same. */
function placeOf({ action_id, changes }: Action, { title }: ShownEffect['blocks'][number]) {
  const change = changes.find(({ path }) => argument(path) === title[0]?.text);
  return change ? { action_id, path: change.path } : null;
}

function ActionDeed({
  part,
  effect,
  place,
}: {
  readonly part: ShownEffect;
  readonly effect: Action;
  readonly place: string;
}) {
  const kind = KINDS[effect.action_type] ?? effect.action_type;
  const diffs = part.blocks.filter((block) => block.kind === 'diff');
  const others = part.blocks.filter((block) => block.kind !== 'diff');
  const note = place === '' ? kind : `${kind}, ${place}`;
  return (
    <>
      {diffs.map((block) => (
        <DiffView
          block={block}
          label={plainOf(block.title)}
          note={note}
          gone={effect.action_type === 'FILE_DELETE'}
          place={placeOf(effect, block)}
        />
      ))}
      {(diffs.length === 0 || others.length > 0 || part.parts.length > 0) && (
        <section class="deed">
          <header>
            <h2>{note}</h2>
            <span class="note">
              <ValueText pieces={part.headline.value} label={`action ${effect.action_id}`} />
            </span>
          </header>
          {others.map((block) => (
            <BlockOf block={block} />
          ))}
          <dl class="rows">
            {part.fields
              .filter(({ weight }) => weight !== 'dim')
              .map(({ label, value, weight }) => (
                <LabelRow label={label} alarm={weight === 'alarm'}>
                  <ValueText pieces={value} label={`${label} of ${effect.action_id}`} />
                </LabelRow>
              ))}
          </dl>
        </section>
      )}
      {effect.steps.map((step, i) =>
        step.kind === 'tool' ? (
          <ToolDeed key={i} effect={step} shown={part.parts[i]!} title={`Step ${i + 1}: ${step.tool}`} />
        ) : (
          <SqlStep key={i} shown={part.parts[i]!} place={i + 1} />
        ),
      )}
    </>
  );
}

const plainOf = (pieces: Pieces) => pieces.map(({ text }) => text).join('');

function BlockOf({ block }: { readonly block: ShownEffect['blocks'][number] }) {
  const end = useSeenMark(plainOf(block.title) || block.kind);
  return (
    <div class="inset">
      <PrintedText
        title={plainOf(block.title)}
        text={block.lines.join('\n')}
        note={block.left_out > 0 ? `${block.left_out} more lines are too many to be shown` : block.kind}
      />
      <div ref={end} class="mark-end" />
    </div>
  );
}

function SqlStep({ shown, place }: { readonly shown: ShownEffect; readonly place: number }) {
  return (
    <section class="deed">
      <header>
        <h2>Step {place}: SQL</h2>
      </header>
      <Alarms shown={shown} />
      {shown.blocks.map((block) => (
        <BlockOf block={block} />
      ))}
    </section>
  );
}

/** What raises an alarm, filled, first. */
export function Alarms({ shown }: { readonly shown: ShownEffect }) {
  if (shown.alarms.length === 0) return null;
  return (
    <dl class="rows alarms">
      {shown.alarms.map(({ alarm, words, about, weight }) => (
        <LabelRow label={ALARM_WORDS[alarm] ?? alarm} alarm={weight === 'alarm'}>
          <b>{sentence(words)}</b> {about.length > 0 && <ValueText pieces={about} label={`alarm ${words}`} />}
        </LabelRow>
      ))}
    </dl>
  );
}

const ALARM_WORDS: Readonly<Record<string, string>> = {
  'no-sandbox': 'Sandbox',
  root: 'User',
  network: 'Network',
  secret: 'Secret',
  shadow: 'Shadow mode',
  'no-undo': 'Undo',
  'no-rollback': 'Rollback',
  'goes-on': 'Failure',
  delete: 'Delete',
  drop: 'SQL',
  truncate: 'SQL',
  'delete-all': 'SQL',
  'update-all': 'SQL',
  replace: 'Replace',
  protected: 'Protected',
  content: 'Content',
  binary: 'Not text',
  unseen: 'Not shown',
};

/** Told elsewhere on the screen: in the command, in the alarms, or in a fold. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  'Tool',
  'Executable',
  'Interpreter',
  'SHA-256',
  'Definition',
  'Environment',
  'Output kept',
  'Argument',
]);

function ToolDeed({
  effect,
  shown,
  title,
}: {
  readonly effect: ToolEffect;
  readonly shown: ShownEffect;
  readonly title: string;
}) {
  const end = useSeenMark('the command');
  const [program, ...interpreters] = effect.executables;
  const lines = commandLines(effect);
  return (
    <section class="deed" aria-label={title}>
      <header>
        <h2>{title}</h2>
        {effect.chosen.length > 0 && (
          <span class="note">
            <span class="val">Dotted</span>: chosen by the agent
          </span>
        )}
      </header>
      <div class="cmd" dir="ltr">
        <div class="exe">
          <bdi>{program!.path}</bdi>
          <Dig digest={program!.sha256} />
        </div>
        {interpreters.map(({ path, sha256 }) => (
          <div class="exe dim">
            <span>
              run by <bdi>{path}</bdi>
            </span>
            <Dig digest={sha256} />
          </div>
        ))}
        {lines.map(([option, pieces, label], i) => (
          <div class={option === null ? 'arg one' : 'arg'} key={i}>
            {option !== null && <bdi class="opt">{option}</bdi>}
            <span>
              <ValueText pieces={pieces} label={label} />
            </span>
          </div>
        ))}
      </div>
      <Alarms shown={shown} />
      <dl class="rows">
        {shown.fields
          .filter(({ label, weight }) => !ELSEWHERE.has(label) && weight !== 'alarm')
          .map(({ label, value }) => (
            <LabelRow label={label}>
              <ValueText pieces={value} label={label} />
            </LabelRow>
          ))}
      </dl>
      <div ref={end} class="mark-end" />
    </section>
  );
}

/** Elements of the command line, one to a line; an option with the value that follows it. */
function commandLines(effect: ToolEffect): (readonly [string | null, Pieces, string])[] {
  const found: [string | null, Pieces, string][] = [];
  for (let i = 1; i < effect.argv.length; i++) {
    const text = effect.argv[i]!;
    const own = effect.chosen.some(({ element }) => element === i);
    const next = effect.argv[i + 1];
    if (
      !own &&
      /^--?[A-Za-z]/.test(text) &&
      !text.includes('=') &&
      next !== undefined &&
      !next.startsWith('-')
    ) {
      found.push([text, elementPieces(effect, i + 1), text]);
      i++;
    } else found.push([null, elementPieces(effect, i), `argument ${i}`]);
  }
  return found;
}

function elementPieces({ argv, chosen }: ToolEffect, at: number): Pieces {
  const own = chosen.filter(({ element }) => element === at).map((range) => ({ ...range, element: 0 }));
  return argvPieces({ argv: [argv[at]!], chosen: own });
}

/** What stands in none of the parts above. */
export function MoreOf({ effect, shown }: { readonly effect: EffectToDraw; readonly shown: ShownEffect }) {
  const fields =
    effect.kind === 'tool'
      ? shown.fields.filter(({ label }) => ELSEWHERE.has(label))
      : [...shown.fields, ...shown.parts.flatMap((part) => part.fields)];
  const env = effect.kind === 'tool' ? Object.keys(effect.env).length : 0;
  return (
    <Fold
      title={effect.kind === 'plan' ? 'Every detail of the plan' : 'Environment and digests'}
      note={env > 0 ? plural(env, 'variable') : plural(fields.length, 'line')}
      later={() => (
        <LookContext.Provider value={QUIET}>
          <dl class="rows">
            {fields.map(({ label, value }) => (
              <LabelRow label={label}>
                <ValueText pieces={value} label={`detail ${label}`} />
              </LabelRow>
            ))}
          </dl>
        </LookContext.Provider>
      )}
    />
  );
}
