import ts from 'typescript';
import { nodesOf, parse, type Source } from './source.ts';
import { type Check, inSrc } from './tidy.ts';

/** Of a whole text, and long enough that it says what the text is. */
const FORM = /^\/\^.{12,}\$\/$/;

/** What stands above `canonical/`, which has the names of forms. */
const ABOVE: ReadonlySet<string> = new Set(['src/telemetry.ts']);

function formsIn(file: Source): string[] {
  return nodesOf(parse(file))
    .filter(ts.isRegularExpressionLiteral)
    .map(({ text }) => text)
    .filter((text) => FORM.test(text));
}

/** Two places that write one pattern drift apart: it has a name in `canonical/form.ts`, or where it is first needed. */
export const formsOnce: Check = (files) => {
  const first = new Map<string, string>();
  return inSrc(files).flatMap((file) =>
    ABOVE.has(file.path)
      ? []
      : formsIn(file).flatMap((form) => {
          const known = first.get(form);
          if (known === undefined) first.set(form, file.path);
          return known === undefined ? [] : [`${file.path}: ${form} stands in ${known}`];
        }),
  );
};
