import type { Digest } from '../canonical/digest.ts';
import { deepFrozen } from '../canonical/frozen.ts';
import type { Accepted } from './accepted.ts';
import { modeOf, pinOf } from './definition.ts';
import { calledName } from './name.ts';

/** A tool that can be called through the gate, as its server defines it. */
export interface GatedTool {
  readonly called: string;
  readonly server: string;
  readonly tool: string;
  readonly pin: Digest;
  /** `shadow`: its calls pass without an approval. */
  readonly mode: 'gate' | 'shadow';
  readonly definition: Readonly<Record<string, unknown>>;
}

/** What accepted servers offer: their tools, and what else of them reaches callers. */
export interface ServerOffer {
  readonly tools: readonly GatedTool[];
  readonly passes: readonly { readonly server: string; readonly pass: readonly string[] }[];
}

/** It follows from what was accepted, so it is made once, and every caller gets the same one. */
export function offerOf(servers: readonly Accepted[]): ServerOffer {
  return deepFrozen({
    tools: servers.flatMap((accepted) =>
      accepted.tools.map((definition) => ({
        called: calledName(accepted.server, definition.name),
        server: accepted.server,
        tool: definition.name,
        pin: pinOf(definition),
        mode: modeOf(accepted, definition.name),
        definition,
      })),
    ),
    passes: servers.filter(({ pass }) => pass.length > 0).map(({ server, pass }) => ({ server, pass })),
  });
}
