import { afterAll, describe, expect, it } from 'vitest';
import { createDlpScanner } from '../scanner.ts';

const scanner = createDlpScanner();
afterAll(() => scanner.close());

const found = (text: string): string[] =>
  scanner.scanText(text).map(({ start, length }) => text.slice(start, start + length));

describe('words that a sentence gives as a password', () => {
  it.each([
    ['The password for the archive is lobster violin canyon napkin, ask Ines if it fails.', ''],
    ['the passphrase of the backup disk was changed to lobster violin canyon napkin. Thanks', ''],
    [
      'password of the lab router is now lobster-violin-canyon (user: lab)',
      'lobster-violin-canyon',
    ],
    ['Das Passwort für den Drucker lautet lobster violin canyon napkin, bitte nicht drucken.', ''],
    [
      'das kennwort vom tresor ist jetzt laterne-muschel-kaktus-wolke',
      'laterne-muschel-kaktus-wolke',
    ],
    ['La contraseña de la impresora es lobster violin canyon napkin, avísame.', ''],
    [
      'la contraseña del almacén ahora es farol-nube-cactus-piedra (usuario: ana)',
      'farol-nube-cactus-piedra',
    ],
    ['Le mot de passe du routeur c’est lobster violin canyon napkin, à ce soir', ''],
    [
      'le mot de passe de la sauvegarde est lampe-nuage-cactus-pierre.',
      'lampe-nuage-cactus-pierre',
    ],
    ['La password di prova è lobster violin canyon napkin. Grazie', ''],
    ['A senha do roteador é lobster violin canyon napkin, depois apague.', ''],
    ['Hasło do serwera plików to lobster violin canyon napkin, daj znać.', ''],
    ['Lösenordet till skrivaren är lobster violin canyon napkin, säg till.', ''],
    ['Adgangskoden til printeren er lobster violin canyon napkin, sig til.', ''],
    ['Yazıcının şifresi lobster violin canyon napkin, sonra haber ver.', ''],
    ['Het wachtwoord van de printer is lobster violin canyon napkin, laat het weten.', ''],
    ['プリンターのパスワードは lobster violin canyon napkin です。', ''],
    ['打印机的密码是 lobster violin canyon napkin，请保密。', ''],
    ['Password for the printer: lobster violin canyon napkin (ask Ines)', ''],
    [JSON.stringify({ text: 'The password of the archive is lobster violin canyon napkin' }), ''],
  ])('are found: %s', (text, value) => {
    expect(found(text)).toEqual([value || 'lobster violin canyon napkin']);
  });

  it.each([
    'borg mount repo  # passphrase: otter copper nine lantern',
    JSON.stringify({ args: JSON.stringify({ body: 'passphrase: lantern otter nine saddle' }) }),
    'Passphrase: Otter Copper Nine Lantern',
    '// passphrase: otter-copper-nine-lantern',
    'passphrase for the backup: otter copper nine lantern',
  ])('are found with a number, with capitals and in comments: %s', (text) => {
    expect(found(text)).toHaveLength(1);
  });

  it.each([
    'passphrase: four random words please',
    'Passphrase: Your Account Recovery Words',
    '# passphrase: see the vault',
    'passphrase: three words from the list',
    'Passphrase: Minimum Length Eight Characters',
    'my password is eight years old now',
    'password: required string between lines',
    'The passphrase: Required For All Users',
    'passphrase: minimum four words with spaces',
    'password is one of three, ask the team',
  ])('are a sentence with a number: %s', (text) => expect(found(text)).toEqual([]));

  it('are found in base64', () => {
    const value = Buffer.from('lobster violin canyon napkin').toString('base64');
    expect(found(`Lösenordet till skrivaren är ${value}, säg till.`)).toEqual([value]);
  });
});

/** Ten sentences of each language. */
const ORDINARY: Readonly<Record<string, string>> = {
  English: `The password is wrong again, please reset it
    the password for the portal is expired since friday, sorry
    Your password was changed successfully yesterday evening.
    the password to access private cloud storage, backups and logs lies in the vault
    the password is case sensitive and never shown
    Passwords are never stored unencrypted anywhere.
    the passphrase is something only people remember
    The password of this account was reset manually.
    the password policy is twelve characters minimum, letters and digits
    Password for guests: what reception prints every morning.`,
  German: `Das Passwort ist abgelaufen, bitte neu setzen
    das passwort ist leider schon wieder falsch
    Das Kennwort für das Portal wurde gestern geändert, sag Bescheid
    das passwort lautet anders als gestern
    Das Passwort war mindestens zwölf zeichen lang.
    das passwort ist allen bekannt, also bitte wechseln
    Das Passwort ist nirgends gespeichert worden.
    das kennwort ist derzeit gesperrt
    das Passwort für den Drucker ist vorübergehend deaktiviert worden.
    das passwort ist vermutlich falsch eingetippt worden`,
  Spanish: `La contraseña es demasiado corta, usa otra
    la contraseña del portal es incorrecta, inténtalo otra vez
    La contraseña es secreta para todos.
    la contraseña era distinta ayer, creo
    la clave es escuchar siempre primero, luego hablar
    la contraseña del wifi es igual que siempre
    La contraseña es obligatoria desde ayer.
    la contraseña fue modificada manualmente ayer.
    la contraseña es generada automáticamente cada noche.
    la contraseña es conocida por todos`,
  French: `Le mot de passe est expiré, il faut le changer
    le mot de passe du portail est encore faux
    Le mot de passe est trop court.
    le mot de passe c'est toujours pareil, personne ne sait
    le mot de passe est connu par tous
    Le mot de passe était différent hier.
    le mot de passe est généré automatiquement chaque nuit.
    le mot de passe est stocké chiffré partout.
    le mot de passe est sensible aux majuscules
    le mot de passe du wifi est affiché dans la salle`,
  Italian: `La password è scaduta, cambiala
    la password del portale è di nuovo sbagliata
    La password è troppo corta.
    la parola è nata nel medioevo, dicono
    la password era diversa ieri, credo
    la password è conosciuta ormai ovunque
    la password è salvata cifrata sul server
    la password è generata automaticamente ogni notte.
    La password è obbligatoria da ieri.
    la password del wifi è appesa alla porta`,
  Portuguese: `A senha está expirada, troque por favor
    a senha do portal é a mesma de ontem
    A senha é muito curta.
    a senha é conhecida por todos
    a senha era diferente ontem, acho
    A senha é obrigatória desde ontem.
    a senha é gerada automaticamente toda noite.
    a senha do wifi é igual para todos
    a senha é guardada cifrada sempre
    A senha foi trocada manualmente ontem.`,
  Dutch: `Het wachtwoord is verlopen, vraag een nieuw aan
    het wachtwoord van het portaal is weer fout
    Het wachtwoord is te kort.
    het wachtwoord is iedereen bekend
    het wachtwoord was gisteren anders, denk ik
    Het wachtwoord is versleuteld opgeslagen.
    het wachtwoord is vandaag handmatig gewijzigd.
    het wachtwoord is hoofdlettergevoelig
    het wachtwoord van de wifi is overal hetzelfde
    Het wachtwoord is verplicht sinds gisteren.`,
  Polish: `Hasło jest nieprawidłowe, spróbuj ponownie
    hasło do portalu to znowu ten sam problem
    Hasło jest zbyt krótkie.
    hasło jest znane wszystkim w firmie
    hasło było wczoraj inne, chyba
    Hasło jest przechowywane zawsze zaszyfrowane.
    hasło do wifi to tajemnica recepcji
    hasło zostało zmienione ręcznie wczoraj.
    hasło jest generowane automatycznie każdej nocy.
    Hasło jest wymagane od wczoraj.`,
  Swedish: `Lösenordet är fel igen, försök på nytt
    lösenordet till portalen är utgånget sedan fredag
    Lösenordet är för kort.
    lösenordet är känt av alla
    lösenordet var annorlunda igår, tror jag
    Lösenordet är alltid krypterat hos oss.
    lösenordet till wifi är samma som vanligt
    lösenordet är hemligt för gäster
    lösenordet är skiftlägeskänsligt
    Lösenordet är ändrat för hand igår.`,
  Turkish: `Şifresi yanlış, tekrar dene
    kullanıcının şifresi henüz kimseye verilmedi
    Portal şifresi dün değiştirildi, haber verin.
    sistemin şifresi otomatik olarak yenilenir.
    yazıcının şifresi herkes tarafından biliniyor
    Şifresi en az sekiz karakter olmalı.
    hesabın şifresi sunucuda saklanmaz, merak etme
    şifresi unutulan hesaplar yarın kapatılacak
    Müşterinin şifresi büyük küçük harfe duyarlıdır.
    kapının şifresi resepsiyonda asılı duruyor`,
};

it.each([
  'salasana on vanhentunut eilen illalla',
  'salasana on liian lyhyt tai heikko',
  'heslo je generováno automaticky každou noc',
  'şifresi kolay tahmin edilen hesaplar',
  'the password was changed to improve compliance posture',
  'passwords were updated to meet stricter criteria',
  'password changed to prevent further abuse',
  'the password is beyond human memory.',
  'het wachtwoord is gewoon hetzelfde gebleven',
  'lösenordet är detsamma överallt numera',
])('what is said of a password is none: %s', (text) => expect(found(text)).toEqual([]));

describe('sentences about passwords', () => {
  const sentences = Object.entries(ORDINARY).flatMap(([language, lines]) =>
    lines.split('\n').map((line) => [language, line.trim()] as const),
  );

  it('are a hundred', () => expect(new Set(sentences.map(([, line]) => line)).size).toBe(100));

  it.each(sentences)('hold none in %s: %s', (_, sentence) => {
    expect(found(sentence)).toEqual([]);
    expect(found(`ok.\n${sentence}\nthanks`)).toEqual([]);
  });
});
