import { chownSync, mkdirSync } from 'node:fs';

/** What is in the scratch folder before the demo begins. */

const registry = (sandboxed) => `version: 1
tools:
  - name: backup
    summary: Copies one file of data/ into backups/.
    executable: /bin/cp
    args: ["--", "{file}", "backups/"]
    parameters:
      file: { type: path, description: "The file to copy, such as data/report.txt" }
    sandbox: ${sandboxed ? '{ read: [data], write: [backups] }' : 'none'}
    undo: none
  - name: show
    summary: Prints one file.
    executable: ./show.sh
    args: ["{file}"]
    parameters:
      file: { type: path }
    sandbox: ${sandboxed ? '{ read: [data] }' : 'none'}
    undo: none
`;

const PLAN = {
  plan_id: 'customer-email',
  action_plan: [
    {
      action_id: 'add-email',
      action_type: 'SCHEMA_UPDATE',
      target: 'schemas/customer.json',
      operation: { type: 'json_add_property', path: '$.properties', key: 'email', value: { type: 'string' } },
    },
  ],
};

const CUSTOMER = `{
  "type": "object",
  "properties": {
    "id": { "type": "integer" }
  }
}
`;

const NOBODY = 65534;

export function furnish({ write, path, sandboxed }) {
  write('data/report.txt', 'Quarterly numbers, not backed up yet.\n');
  write('show.sh', '#!/bin/sh\ncat "$1"\n', { mode: 0o755 });
  write('tools.yaml', registry(sandboxed));
  write('schemas/customer.json', CUSTOMER);
  write('plan.json', JSON.stringify(PLAN, null, 2));
  mkdirSync(path('backups'));
  // Where Keyturn runs as root, its tools run as `nobody`.
  if (process.geteuid?.() === 0) chownSync(path('backups'), NOBODY, NOBODY);
}
