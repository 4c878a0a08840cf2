import { visible } from '../canonical/visible.ts';
import { differenceWords, type Result } from '../keyturn.ts';
import { type Field, fieldLines } from './fold.ts';
import { painter } from './paint.ts';
import type { Opened } from './project.ts';
import type { Terminal } from './terminal.ts';

/** How many differences are listed, and how long a value may be to be shown beside the other. The whole effect stands above them. */
const LISTED = 12;
const VALUE_CHARS = 60;

/** What a person reads beneath an effect: in what it differs from what it replaces, and from the last one that they approved. */
export async function earlierLines(
  keyturn: Opened,
  { columns }: Terminal,
  request: { readonly intent_id: string; readonly name: string },
): Promise<string[]> {
  const { intent_id } = request;
  const changes = await keyturn.intents.changes({ intent_id });
  const earlier = await keyturn.intents.earlier(request);
  const found = [...(changes ? changedFields(changes) : []), ...(earlier ? fieldsOf(earlier) : [])];
  return found.length === 0 ? [] : ['', ...fieldLines(found, { paint: painter(true), columns })];
}

type Changes = NonNullable<Result<'intents.changes'>>;

/** What is changed of the intent that another one replaces. */
export function changedFields({ intent_id, differences }: Changes): Field[] {
  if (differences === null) return [['Changed', `not known: ${intent_id}, which it replaces, was erased`]];
  if (differences.length === 0) return [['Changed', `nothing of ${intent_id}, which it replaces`]];
  return [['Changed', `of ${intent_id}, which it replaces:`], ...listed('Changed', differences)];
}

type Earlier = NonNullable<Result<'intents.earlier'>>;

export function fieldsOf({ intent_id, approved_at, differences }: Earlier): Field[] {
  const last = `${intent_id}, which you approved at ${approved_at}`;
  if (differences === null) return [['Compared', `not with ${last}: it was erased`]];
  if (differences.length === 0) return [['Same as', last]];
  return [['Compared', `with ${last}`], ...listed('Differs', differences)];
}

function listed(label: string, differences: NonNullable<Earlier['differences']>): Field[] {
  const more = differences.length - LISTED;
  return [
    ...differences
      .slice(0, LISTED)
      .map(
        ({ what, before, now }): Field => [
          label,
          [['bold', visible(what)], differenceWords(before, now, VALUE_CHARS)],
        ],
      ),
    ...(more > 0 ? [[label, `${more} more`] satisfies Field] : []),
  ];
}
