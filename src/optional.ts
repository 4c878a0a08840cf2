import { refuse } from './refusal.ts';

/**
 * Packages that are installed apart, because few need them and one is larger than all the rest: optional peers in package.json. Each
 * with the version that the tests run with, and what it is for.
 */
export const OPTIONAL = {
  '@duckdb/node-api': { version: '1.5.6-r.1', use: 'SQL in a plan or a pipeline' },
  '@opentelemetry/api': { version: '1.9.0', use: 'Telemetry' },
  pg: { version: '8.23.1', use: 'A store on PostgreSQL' },
} as const;

type Name = keyof typeof OPTIONAL;

/** What to do about a package that is not installed. */
export function installLine(name: Name): string {
  const { use, version } = OPTIONAL[name];
  return `${use} needs a package that is not installed. Where Keyturn is installed, run: npm install ${name}@${version}`;
}

/** Whether it could not be loaded because it is not there; not because something that it needs is not. */
export function isMissing(name: Name, error: unknown): boolean {
  const { code, message } = error as NodeJS.ErrnoException;
  return (
    (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') &&
    message.split('\n')[0]!.includes(`'${name}'`)
  );
}

/** Refuses when this is why it could not be loaded; throws any other error as it is. */
export function refuseMissing(name: Name, error: unknown): never {
  if (!isMissing(name, error)) throw error;
  refuse('PACKAGE_MISSING', installLine(name), { package: name, version: OPTIONAL[name].version });
}
