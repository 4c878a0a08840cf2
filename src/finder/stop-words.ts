import { folded } from './fold.ts';

/** Words that are in most sentences of a language and say nothing about what is wanted. Small on purpose. */
export const STOP_WORDS_BY_LANGUAGE: Readonly<Record<string, string>> = {
  en: `a an the and or but if of to in at by for from with as is are am be been was were it its this that these those i me my
    we us our you your he him his she her hers they them their do does did done can could would will shall should may might must
    have has had not no yes please thanks thank hi hello hey so just really anyway also again now then there here who what
    which when how why some any all every one someone somebody like want need let lets get go going make know think into
    plz pls too very lot honestly okay ok well about out up over than because since until while called ill id im`,
  es: `el la los las un una unos unas y o u de del al a en por para con sin que qué es son está están estoy se su sus mi mis tu
    tus me te le les lo nos yo quiero querría necesito hay favor porfa hola gracias este esta ese esa como cómo pero muy ya
    más así mira buenas hacer haz haga puedes podrías debo tengo cuál quién`,
  fr: `le la les un une des du de au aux et ou à en pour par avec sans que qui quoi est sont ce cet cette ces je tu il elle on
    nous vous ils elles mon ma mes ton ta tes son sa ses leur me te se y ne pas plus merci bonjour svp plait voudrais veux peux
    pourrais faut dois fait faire fais moi toi lui t l d j n s c qu`,
  de: `der die das den dem des ein eine einen einem einer eines und oder aber zu zur zum im in an am auf aus bei mit für von
    vom nach über um ist sind war wird werden ich du er sie es wir ihr mich mir dich dir uns euch mein meine dein sein bitte
    danke hallo mal doch noch nur auch schon so nicht kein keine kannst könntest können möchte will soll muss habe hast hat
    jetzt also dann was wer wie welche welcher etwas`,
  pt: `o a os as um uma uns umas e ou de do da dos das em no na nos nas por para pra com sem que é são está estão eu tu ele
    ela nós você vocês me te se lhe meu minha seu sua quero queria preciso favor olá oi obrigado obrigada isso este esta
    esse essa como mas mais muito já não ainda pode dá fazer faz qual quem`,
  it: `il lo la i gli le un uno una di del dello della dei degli delle a al allo alla ai agli alle da dal in nel nella con su
    per tra fra e o ma che chi è sono sei io tu lui lei noi voi loro mi ti si ci vi mio mia tuo suo vorrei voglio devo puoi
    potresti bisogna favore grazie ciao questo questa quello come più non fare fai fammi l d un po`,
  zh: `请把 把这 我要 我想 帮我 一下 请给 给我 这个 一个`,
  ja: `して てく くだ ださ さい ます です した する ください お願 願い`,
  ar: `من في على إلى عن مع هذا هذه ذلك التي الذي أن إن لا ما هل كم أنا نحن هو هي فضلك أريد أرجو رجاء يرجى الآن يوم لي لنا
    قبل بعد أو و ثم الخاص خاص`,
  hi: `का की के को से में पर है हैं हूँ था थी थे और या तो ही भी यह ये वह वे इस उस मैं मुझे मेरा मेरी मेरे हम हमें आप अपना अपनी
    कर करो करें करना करने दो दें दीजिए दीजिये लो लें ले दे कृपया जी नहीं क्या ना चाहिए कोई एक वाला`,
};

/** Folded like the text that they are compared with. */
export const wordsOf = (language: string): string[] =>
  (STOP_WORDS_BY_LANGUAGE[language] ?? '').split(/\s+/).filter(Boolean).map(folded);

export const STOP_WORDS: ReadonlySet<string> = new Set(Object.keys(STOP_WORDS_BY_LANGUAGE).flatMap(wordsOf));
