import type { Result } from '../keyturn.ts';

/** What the service answers, by the names that the page gives to it. */
export type Person = Result<'people.list'>['principals'][number];
export type Intent = Result<'intents.get'>;
export type QueueItem = Result<'intents.list'>['intents'][number];
export type ReviewTold = Result<'intents.review'>;
export type ShownEffect = ReviewTold['shown'];
