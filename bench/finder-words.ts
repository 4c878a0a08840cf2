/** Words of the invented simulations in ten languages: real acts, and the invented things as each language might call them. */

/** Per language, the acts in the order of the verbs, each with other words for it. */
const ACTS: Readonly<Record<string, string>> = {
  en: 'create make add|delete remove erase|update change edit|send mail forward|cancel abort|approve accept allow|archive shelve|export extract|import load|restart reboot|publish release post|review inspect check',
  es: 'crear hacer añadir|borrar eliminar quitar|actualizar cambiar editar|enviar mandar|cancelar anular|aprobar aceptar|archivar guardar|exportar extraer|importar cargar|reiniciar rearrancar|publicar lanzar|revisar examinar',
  fr: 'créer faire ajouter|supprimer effacer|modifier changer|envoyer expédier|annuler abandonner|approuver accepter|archiver ranger|exporter extraire|importer charger|redémarrer relancer|publier diffuser|vérifier examiner',
  de: 'anlegen erstellen|löschen entfernen|ändern aktualisieren|schicken senden|absagen stornieren|genehmigen freigeben|archivieren ablegen|exportieren ausgeben|importieren laden|neustarten hochfahren|veröffentlichen herausgeben|prüfen ansehen',
  pt: 'criar fazer adicionar|apagar excluir remover|atualizar mudar|enviar mandar|cancelar anular|aprovar aceitar|arquivar guardar|exportar extrair|importar carregar|reiniciar religar|publicar lançar|revisar examinar',
  it: 'creare fare aggiungere|cancellare eliminare|aggiornare cambiare|inviare mandare|annullare disdire|approvare accettare|archiviare conservare|esportare estrarre|importare caricare|riavviare rilanciare|pubblicare diffondere|rivedere esaminare',
  zh: '创建 新建|删除 移除|更新 修改|发送 寄出|取消 撤销|批准 同意|归档 存档|导出 输出|导入 载入|重启 重新启动|发布 公布|审核 检查',
  ja: '作成 追加|削除 消去|更新 変更|送信 送付|中止 取り消し|承認 許可|保管 収納|書き出し 出力|読み込み 取り込み|再起動 立ち上げ直し|公開 発表|確認 点検',
  ar: 'أنشئ أضف|احذف أزل|حدث عدل|أرسل ابعث|ألغ أبطل|وافق اقبل|أرشف احفظ|صدر استخرج|استورد حمل|أعد التشغيل شغل|انشر أصدر|راجع افحص',
  hi: 'बनाओ जोड़ो|हटाओ मिटाओ|बदलो सुधारो|भेजो पहुँचाओ|रद्द निरस्त|मंज़ूर स्वीकार|संग्रह सहेजो|निर्यात निकालो|आयात लाओ|पुनरारंभ दोबारा चलाओ|प्रकाशित जारी|जाँचो देखो',
};

/** How a language ends or writes an invented word. */
const ENDINGS: Readonly<Record<string, string>> = {
  en: '',
  es: 'o',
  fr: 'eur',
  de: 'ung',
  pt: 'ão',
  it: 'ino',
};
const LETTERS = 'abcdefgiklmnoprstuvz';
const SCRIPTS: Readonly<Record<string, string>> = {
  zh: '山水火木金土日月田目手口心门马鱼鸟虫竹米',
  ja: '山川空海花鳥風雪月星石糸車舟箱鍵灯窓机本',
  ar: 'ابتثجحخدرزسشصطعفقكلم',
  hi: 'कखगचजटडतदनपबमयरलवसहश',
};

const LANGUAGES = Object.keys(ACTS);
const actsIn = (language: string, verb: number): string[] => ACTS[language]!.split('|')[verb]!.split(' ');

/** The invented thing in a language: with its ending, or letter by letter in its script. */
function thingIn(language: string, object: string): string {
  const letters = SCRIPTS[language];
  if (letters === undefined)
    return object
      .split(' ')
      .map((word) => word + ENDINGS[language])
      .join(' ');
  const written = object.replace(/[a-z]/g, (letter) => [...letters][LETTERS.indexOf(letter)] ?? '');
  return language === 'zh' || language === 'ja' ? written.replace(' ', '').slice(0, 6) : written;
}

export function wordsFor(verb: number, object: string) {
  return Object.fromEntries(
    LANGUAGES.map((language) => {
      const thing = thingIn(language, object);
      const [last] = thing.split(' ').slice(-1);
      return [language, { acts: actsIn(language, verb), things: [thing, last!] }];
    }),
  );
}

/** The goal in the words of one of the languages, the next one each time. */
export function spokenGoal(i: number, verb: number, object: string): string {
  const language = LANGUAGES[i % LANGUAGES.length]!;
  return `${actsIn(language, verb)[0]} ${thingIn(language, object)}`;
}
