/**
 * The whole journey on the embedded store, in a scratch folder. At a terminal you play the human. Without one, the demo
 * types your part into a real pseudo-terminal, and says so each time.
 */
import { furnish } from './project.mjs';
import { conversation } from './scenes/conversation.mjs';
import { journey } from './scenes/journey.mjs';
import { misuse } from './scenes/misuse.mjs';
import { proof } from './scenes/proof.mjs';
import { rules } from './scenes/rules.mjs';
import { undo } from './scenes/undo.mjs';
import { openStage } from './stage.mjs';

const stage = openStage();
stage.open();
furnish(stage);

const id = await journey(stage);
await misuse(stage);
await rules(stage);
await undo(stage);
proof(stage, id);
await conversation(stage);

stage.close();
