import { it } from 'vitest';
import { postgres } from '../store/postgres-place.ts';
import { race } from './postgres-race.ts';

const server = postgres();

it(
  '8 processes race for 200 intents over one PostgreSQL: each effect happens once, and the chain has no gap',
  () => race(server(), 8, 200),
  900_000,
);
