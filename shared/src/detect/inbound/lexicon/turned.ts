import { rot13 } from '../../rot13.ts';
import type { Lexicon } from './lexicon.ts';

// Words whose reversal and rot13 are not words of any language here.
const WORDS = `instructions instruction previous password passwords assistant administrator
  immediately approved authorized everything credentials following anweisungen ignoriere vorherigen
  passwort instrucciones anteriores instruction précédentes ignorez consignes contraseña inmediatamente
  without forward customer transfer confirmation database deleted developer unrestricted utilisateur
  immédiatement bestätigung administrador administrateur benutzer system.prompt ignore.all
  that with this your have which should account access before nicht eine diese vous pour cette utilisateur
  para esta usuario cuenta the from would these their about after other because send email delete token
  files secret please following everything nutzer sende daten kunden und bitte sofort konto jetzt
  keine toujours jamais maintenant votre toutes fichiers données envoie compte sans datos siempre ahora
  todos envía archivos borra dados senha você agora envie arquivos utente senza tutti adesso invia conto
  would could must into only when what them need make next first never always answer reply message write
  output respond print secretly silently werden wurde sich dass wenn kann wird noch auch nachricht antworte
  antwort schreibe niemals heimlich dans avec sont tout être faire doit message réponds répondre secret
  como debe hacer mensaje correo responde nunca della questo sono devi messaggio rispondi mensagem deve
  responda niet voor deze moet bericht antwoord antwoorden geheim verwijder que est ist это для нужно
  сообщение ответ никогда удали gebruiker wachtwoord bestanden stuur meteen пользователю пароль отправь данные файлы сейчас`.split(
  /\s+/,
);
const WIDE =
  '指令 忽略 指示 無視 密码 パスワード 管理員 管理员 提示 系统 用户 立即 ユーザー 無視して 送信 権限 账户 邮件 已经 可以 必须 ください ました ません すべて 发送 删除 告诉 管理 地址 批准 付款 规则 回答 削除 実行 確認 承認 回答 情報 規則'.split(
    ' ',
  );

export const TURNED: Lexicon = {
  backwards: [...WORDS, ...WIDE]
    .map((word) => [...word.replace('.', ' ')].reverse().join(''))
    .join('|'),
  rot13: WORDS.filter((word) => /^[a-z.]+$/.test(word))
    .map((word) => rot13(word.replace('.', ' ')))
    .join('|'),
};
