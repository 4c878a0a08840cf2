import type { Json } from '../../canonical/json.ts';
import { isOnItsOwn } from './json-add.ts';
import type { JsonPlace } from './json-locate.ts';
import { renderBroken, renderInline } from './json-render.ts';
import { indentAt, isBroken, styleAt } from './json-style.ts';
import type { Splice } from './splice.ts';

/** A new value in the place of the old one, broken into lines where the old one was, or where the values beside it are. */
export function updateValue(text: string, place: JsonPlace, value: Json): Splice[] {
  const style = styleAt(text, place);
  const had_elements = place.own !== null && place.own.first >= 0;
  const broken = had_elements ? isBroken(text, place.own) : isOnItsOwn(text, place);
  const indent = indentAt(text, place.start);
  const rendered = broken ? renderBroken(value, style, indent) : renderInline(value, style);
  return [{ start: place.start, end: place.end, text: rendered }];
}
