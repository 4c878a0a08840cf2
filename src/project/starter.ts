import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createDurably, makeFolderDurably } from '../durable/file.ts';
import { STARTER_POLICIES, STARTER_QUORUMS, STARTER_TESTS } from '../policy/starter.ts';
import { VERSION } from '../version.ts';
import type { Layout } from './layout.ts';

const CONFIG = `# Keyturn's configuration. Every line shows the default.
version: 1
tenant: default
registry: tools.yaml
# Where the ledger is: sqlite, in .keyturn, or postgres://USER@HOST/DATABASE for several hosts (docs/postgres.md).
store: sqlite
# A second place for the kept head of the ledger, on another disk or of another owner (docs/cli.md#the-kept-head).
# heads: /var/lib/keyturn/heads/default
# How long an intent and an approval live.
intent_ttl: 24h
approval_ttl: 1h
# How long a capability lives, from the order to the run, and how long an order waits to be claimed.
capability_ttl: 5m
order_ttl: 2m
# Where this is, such as prod. Policies can ask for it.
environment: default
# The name of what runs here. Capabilities are addressed to it.
executor: executor
# How many proposals of one proposer may wait for a human, and how many it may make in a minute. Proposals that no key signs share the
# quota of the account that makes them.
proposals:
  pending: 100
  minute: 120
# The plain-file lane asks for no signature, so it is closed inside a project.
lane:
  allow: false
# For operators: silent, error, warn, info or debug; to stderr, or to a file that ends in .log (docs/cli.md#log).
log:
  level: silent
  file: stderr
`;

/** The package as npm publishes it, so that an editor finds the schema without an installed Keyturn. */
const REGISTRY = `# yaml-language-server: $schema=https://unpkg.com/keyturn@${VERSION}/schemas/tools.json
# The tools that an agent may propose (docs/tools.md has every key). This file must not be writable while Keyturn runs:
# make it writable to edit it (chmod u+w), then run \`keyturn tool lint\` and \`keyturn tool lock\`.
version: 1
tools:
  - name: greet
    summary: Prints a greeting.
    executable: /usr/bin/printf
    args: ["Hello, %s!\\\\n", "{name}"]
    parameters:
      name:
        type: string
        description: Who is greeted.
        pattern: "[A-Za-z][A-Za-z .'-]*"
        max_length: 60
    timeout_s: 10
    # No network, no files but the system's own. \`sandbox: none\` is possible and is shown loudly to the approver.
    sandbox: {}
    undo: none
`;

/** Files for a newcomer. What exists is left alone. */
export function writeStarterFiles(layout: Layout): void {
  writeOnce(layout.config, CONFIG, 0o644);
  writeOnce(join(layout.root, 'tools.yaml'), REGISTRY, 0o444);
  // They are guarded from every tool, and only what exists can be guarded without a trace.
  for (const folder of [layout.policies, layout.simulations])
    if (!existsSync(folder)) makeFolderDurably(folder, 0o755);
  for (const [name, text] of STARTERS) writeOnce(join(layout.policies, name), text, 0o644);
}

const STARTERS = [
  ['keyturn.cedar', STARTER_POLICIES],
  ['quorums.yaml', STARTER_QUORUMS],
  ['tests.yaml', STARTER_TESTS],
] as const;

function writeOnce(path: string, text: string, mode: number): void {
  if (!existsSync(path)) createDurably(path, Buffer.from(text), mode);
}
