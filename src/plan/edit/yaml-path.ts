import { refuse } from '../../refusal.ts';
import { compilePath, type Step } from './document-path.ts';

/** The steps of a YAML path. In the dotted form digits may be a place in a list or a key. */
export interface YamlPath {
  readonly steps: readonly Step[];
  readonly dotted: boolean;
}

const DOTTED = /^[^.[\]{}\s"'*?@$]+(?:\.[^.[\]{}\s"'*?@$]+|\[\d{1,9}\])*$/;
const WORD = /\[(\d+)\]|[^.[\]]+/g;

/** Accepts `$.services.web.ports[0]` and `services.web.ports.0`. Both name one place, without looking. */
export function parseYamlPath(path: string): YamlPath {
  if (path.startsWith('$')) {
    const { steps } = compilePath(path);
    if (steps === null) refuse('EDIT_PATH_MALFORMED', 'A YAML path names keys and places only.');
    return { steps, dotted: false };
  }
  if (!DOTTED.test(path))
    refuse('EDIT_PATH_MALFORMED', 'The path is neither dotted nor does it start with "$".');
  const steps = [...path.matchAll(WORD)].map(([word, place]) => (place === undefined ? word : Number(place)));
  return { steps, dotted: true };
}
