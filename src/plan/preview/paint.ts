import { styleText } from 'node:util';

export type Tone = 'heading' | 'added' | 'removed' | 'place' | 'quiet' | 'warning' | 'alarm';
export type Paint = (tone: Tone, text: string) => string;

const STYLES = {
  heading: 'bold',
  added: 'green',
  removed: 'red',
  place: 'cyan',
  quiet: 'dim',
  warning: 'yellow',
  alarm: ['bold', 'red'],
} as const satisfies Record<Tone, unknown>;

/** Colour only where somebody asked for it. */
export function painter(colour: boolean): Paint {
  if (!colour) return (_tone, text) => text;
  return (tone, text) => {
    const style = STYLES[tone];
    // The caller knows where this goes; the function would look at standard output.
    return styleText(typeof style === 'string' ? style : [...style], text, { validateStream: false });
  };
}
