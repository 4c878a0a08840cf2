import { drawShown } from '../../src/cli/draw.ts';
import { type Paint, painter } from '../../src/cli/paint.ts';
import type { Shown } from '../../src/display/shown.ts';

/** What a person reads at a wide terminal, without colours. */
export function drawn(shown: Shown, paint: Paint = painter(false)): string {
  return `${drawShown(shown, { paint, columns: 400 }).join('\n')}\n`;
}

/** Colours written out. */
export const inColour: Paint = (style, text) => `<${style}>${text}</>`;

export function drawnInColour(shown: Shown): string {
  return drawn(shown, inColour);
}
