import type { AgentState } from '../gate/agent-state.ts';
import { Refusal } from '../refusal.ts';
import type { AgentContext } from './context.ts';
import { goals } from './contracts.ts';

/** In which language a conversation is held, and what the program itself says in it. The meaning of a reason code is English. */

/** Of the newest turn. */
export async function spokenLanguage({ journey }: AgentContext, { turn }: AgentState): Promise<string> {
  return goals.open(await journey.store.object(turn.goal)).normalized_intent.language;
}

/** The same; undefined where what was said is erased. */
export async function languageLeft(context: AgentContext, state: AgentState): Promise<string | undefined> {
  try {
    return await spokenLanguage(context, state);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'OBJECT_MISSING') throw error;
    return undefined;
  }
}

interface Sayings {
  readonly done: string;
  readonly done_before: string;
  readonly not_done: string;
  readonly failed: string;
  readonly rolled_back: string;
  readonly nothing_done: string;
  readonly nothing_more: string;
  /** With {} for one of the two. */
  readonly too_old: string;
  readonly missing: string;
  readonly limited: string;
}

const ENGLISH: Sayings = {
  done: 'Done.',
  done_before: 'This was done before in this conversation, and nothing was done now.',
  not_done: 'Not done.',
  failed: 'It ran and failed. What it did before it failed was not undone.',
  rolled_back: 'It failed, and what it had done was undone.',
  nothing_done: 'Nothing is done.',
  nothing_more: 'Nothing more is done.',
  too_old: 'The prompt was too old for this yes. {} Ask again.',
  missing: 'Nothing here can do that yet. The request is noted, and you will be told when something can.',
  limited: 'Nothing here can do that yet. Too many such requests were noted lately: ask again later.',
};

const SAYINGS: ReadonlyMap<string, Sayings> = new Map<string, Sayings>([
  [
    'es',
    {
      done: 'Hecho.',
      done_before: 'Esto ya se hizo en esta conversación, y ahora no se hizo nada.',
      not_done: 'No se hizo.',
      failed: 'Se ejecutó y falló. Lo que hizo antes de fallar no se deshizo.',
      rolled_back: 'Falló, y lo que había hecho se deshizo.',
      nothing_done: 'No se hace nada.',
      nothing_more: 'No se hace nada más.',
      too_old: 'La pregunta era demasiado antigua para este sí. {} Vuelve a pedirlo.',
      missing:
        'Aquí nada puede hacer eso todavía. La petición queda anotada, y se te avisará cuando algo pueda.',
      limited:
        'Aquí nada puede hacer eso todavía. Se anotaron demasiadas peticiones así últimamente: vuelve a pedirlo más tarde.',
    },
  ],
  [
    'fr',
    {
      done: 'Fait.',
      done_before: "Cela a déjà été fait dans cette conversation, et rien n'a été fait maintenant.",
      not_done: "Ce n'est pas fait.",
      failed: "L'exécution a commencé et a échoué. Ce qui a été fait avant l'échec n'a pas été annulé.",
      rolled_back: 'Cela a échoué, et ce qui avait été fait a été annulé.',
      nothing_done: "Rien n'est fait.",
      nothing_more: "Rien d'autre n'est fait.",
      too_old: 'La question était trop ancienne pour ce oui. {} Redemandez.',
      missing:
        'Rien ici ne sait encore faire cela. La demande est notée, et vous serez averti quand ce sera possible.',
      limited:
        'Rien ici ne sait encore faire cela. Trop de demandes de ce genre ont été notées récemment : redemandez plus tard.',
    },
  ],
  [
    'de',
    {
      done: 'Erledigt.',
      done_before: 'Das wurde in diesem Gespräch schon erledigt, und jetzt wurde nichts getan.',
      not_done: 'Nicht erledigt.',
      failed: 'Es lief und schlug fehl. Was es vorher getan hat, wurde nicht rückgängig gemacht.',
      rolled_back: 'Es schlug fehl, und was es getan hatte, wurde rückgängig gemacht.',
      nothing_done: 'Es wird nichts getan.',
      nothing_more: 'Es wird nichts weiter getan.',
      too_old: 'Die Frage war zu alt für dieses Ja. {} Bitte noch einmal verlangen.',
      missing: 'Das kann hier noch nichts. Der Wunsch ist notiert, und es wird gemeldet, wenn es geht.',
      limited:
        'Das kann hier noch nichts. Zuletzt wurden zu viele solche Wünsche notiert: bitte später noch einmal fragen.',
    },
  ],
  [
    'pt',
    {
      done: 'Feito.',
      done_before: 'Isto já foi feito nesta conversa, e agora nada foi feito.',
      not_done: 'Não foi feito.',
      failed: 'Foi executado e falhou. O que fez antes de falhar não foi desfeito.',
      rolled_back: 'Falhou, e o que tinha feito foi desfeito.',
      nothing_done: 'Nada é feito.',
      nothing_more: 'Nada mais é feito.',
      too_old: 'A pergunta era antiga demais para este sim. {} Peça de novo.',
      missing: 'Nada aqui consegue fazer isso ainda. O pedido está anotado, e você será avisado quando der.',
      limited:
        'Nada aqui consegue fazer isso ainda. Muitos pedidos assim foram anotados há pouco: peça de novo mais tarde.',
    },
  ],
  [
    'it',
    {
      done: 'Fatto.',
      done_before: 'È già stato fatto in questa conversazione, e ora non è stato fatto nulla.',
      not_done: 'Non è stato fatto.',
      failed: "È stato eseguito e non è riuscito. Ciò che ha fatto prima dell'errore non è stato annullato.",
      rolled_back: 'Non è riuscito, e ciò che aveva fatto è stato annullato.',
      nothing_done: 'Non si fa nulla.',
      nothing_more: "Non si fa nient'altro.",
      too_old: 'La domanda era troppo vecchia per questo sì. {} Chiedi di nuovo.',
      missing: 'Qui niente può ancora farlo. La richiesta è annotata, e sarai avvisato quando si potrà.',
      limited:
        'Qui niente può ancora farlo. Di recente sono state annotate troppe richieste simili: riprova più tardi.',
    },
  ],
  [
    'zh',
    {
      done: '已完成。',
      done_before: '这件事在本次对话中已经做过，现在什么都没有做。',
      not_done: '没有做。',
      failed: '已经执行，但失败了。失败之前所做的没有撤销。',
      rolled_back: '失败了，已经做的都已撤销。',
      nothing_done: '什么都不做。',
      nothing_more: '不再做别的。',
      too_old: '对这个“是”来说，提问已经太久了。{}请重新提出。',
      missing: '这里还没有能做这件事的功能。请求已记下，有了会告诉您。',
      limited: '这里还没有能做这件事的功能。最近记下的这类请求太多，请以后再说。',
    },
  ],
  [
    'ja',
    {
      done: '完了しました。',
      done_before: 'これはこの会話ですでに実行済みで、今は何も実行していません。',
      not_done: '実行していません。',
      failed: '実行しましたが、失敗しました。失敗する前に行ったことは元に戻していません。',
      rolled_back: '失敗しましたが、行ったことは元に戻しました。',
      nothing_done: '何も実行しません。',
      nothing_more: 'これ以上は何も実行しません。',
      too_old: 'この「はい」に対する確認は古すぎます。{}もう一度お伝えください。',
      missing: 'それができるものはまだありません。ご要望は記録し、できるようになったらお知らせします。',
      limited:
        'それができるものはまだありません。最近このような要望の記録が多すぎるため、後でもう一度お伝えください。',
    },
  ],
  [
    'ar',
    {
      done: 'تم.',
      done_before: 'تم هذا من قبل في هذه المحادثة، ولم يُنفَّذ شيء الآن.',
      not_done: 'لم يُنفَّذ.',
      failed: 'بدأ التنفيذ ثم فشل. ما نُفِّذ قبل الفشل لم يُتراجَع عنه.',
      rolled_back: 'فشل التنفيذ، وتم التراجع عما نُفِّذ.',
      nothing_done: 'لن يُنفَّذ شيء.',
      nothing_more: 'لن يُنفَّذ شيء آخر.',
      too_old: 'كان السؤال قديما على هذه الموافقة. {} اطلب مرة أخرى.',
      missing: 'لا شيء هنا يستطيع ذلك بعد. سُجِّل الطلب، وستُبلَّغ حين يصبح ممكنا.',
      limited: 'لا شيء هنا يستطيع ذلك بعد. سُجِّلت طلبات كثيرة من هذا النوع مؤخرا: اطلب مرة أخرى لاحقا.',
    },
  ],
  [
    'hi',
    {
      done: 'हो गया।',
      done_before: 'यह इस बातचीत में पहले ही हो चुका है, और अभी कुछ नहीं किया गया।',
      not_done: 'नहीं किया गया।',
      failed: 'यह चला और विफल हुआ। विफल होने से पहले जो हुआ, उसे वापस नहीं लिया गया।',
      rolled_back: 'यह विफल हुआ, और जो हुआ था, उसे वापस ले लिया गया।',
      nothing_done: 'कुछ नहीं किया जाएगा।',
      nothing_more: 'और कुछ नहीं किया जाएगा।',
      too_old: 'इस हाँ के लिए सवाल बहुत पुराना था। {} फिर से कहें।',
      missing: 'यहाँ अभी कुछ भी ऐसा नहीं कर सकता। अनुरोध लिख लिया गया है, और जब हो सकेगा तो बताया जाएगा।',
      limited: 'यहाँ अभी कुछ भी ऐसा नहीं कर सकता। हाल में ऐसे बहुत अनुरोध लिखे गए हैं: बाद में फिर से कहें।',
    },
  ],
]);

/** What the program says in a language; in English where it has no words of that language. */
export function sayingsIn(language: string | undefined): Sayings {
  return SAYINGS.get(language ?? '') ?? ENGLISH;
}
