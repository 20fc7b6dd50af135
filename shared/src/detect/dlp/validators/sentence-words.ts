/**
 * Words of three letters and more that sentences about passwords contain, in the languages of the
 * labels: function words, and what people say of a password. Shorter words need no list.
 */
const WORDS: ReadonlySet<string> = new Set(
  `the and for you your our their his her its this that these those with from into onto over under
  has have had was were are been being will would can could should shall may might must not nor but
  yet than then when where which who whom whose what why how only also just even still already
  again always never often soon later now here there very much more most less least too quite rather
  some any all both each every none other another same such own few many one two three four five six
  seven eight nine ten after before about above below during without within because unless until
  while once via per plus minus off out down please ask asks asked see tell told let lets get gets got
  give given keep kept make made need needs use uses used using set sent stored saved shared known
  written read found seen changed rotated generated provided expired expires wrong correct right
  incorrect valid invalid missing empty hidden random strong weak long short longer shorter safe
  secure unsafe easy hard old new secret public private required optional different identical
  encrypted hashed masked plain text upper lower case sensitive letters letter words word digits digit
  numbers number characters character symbols length minimum maximum default policy policies rule
  rules user users name names year month day days week weeks today tomorrow yesterday team admin admins
  support manager vault account email mail server system database staging production people everyone
  nobody somebody anyone everybody something nothing everything anything good bad enough likely
  password passwords passphrase passwort kennwort token tokens key keys credential credentials login
  field fields input value values hash hashes confirm forgot forgotten enter entered words
  standard common usual regular simple complex favorite favourite company birthday birth official
  internal external temporary initial original previous next first second third last whatever basic
  probably currently temporarily locked blocked disabled unknown lost forgotten leaked compromised
  exposed breached reused cached reset rejected accepted denied refused mandatory
  der die das den dem des ein eine einen einem einer eines und oder aber nicht kein keine ist sind war
  waren wird werden wurde wurden worden hat haben hatte kann muss soll darf mit ohne von vom zum zur
  bei beim aus auf für über unter nach vor seit bis durch gegen wegen wieder noch schon nur auch sehr
  mehr weniger immer nie nun jetzt bald heute morgen gestern hier dort wie wenn dass weil als damit
  bitte leider falsch richtig abgelaufen gültig ungültig geändert gesperrt bekannt unbekannt leer
  lang kurz kürzer länger sicher unsicher stark schwach neu alt gleich identisch hinterlegt
  gespeichert verschlüsselt zurückgesetzt vergessen verloren mindestens zeichen allen alle niemandem
  niemand jedem intern derzeit aktuell momentan zeitweise wohl zuletzt sofort künftig mein dein sein
  ihr unser euer sich dir mir uns euch ihm ihn man zwei drei vier fünf sechs sieben acht neun zehn
  zwölf zwanzig
  les des une dans sur sous avec sans pour par mais pas plus moins très trop aussi bien mal non oui
  est sont était sera seront été avoir avait ont doit doivent peut peuvent faut que qui quoi dont
  quand comme donc alors encore déjà toujours jamais bientôt maintenant ici leur leurs mon ton son
  notre votre nos vos ses mes tes cette ces tout toute tous toutes même mêmes autre autres chez entre
  vers depuis avant après pendant long court courte faible fort forte bon bonne faux fausse expiré
  périmé incorrect incorrecte invalide valide connu inconnu vide caché stocké enregistré chiffré
  changé modifié oublié perdu bloqué secret différent identique caractères lettres chiffres mots
  obligatoire nécessaire actuellement demain hier deux trois quatre cinq sept huit neuf dix douze
  los las una unos unas del con sin por para pero como más menos muy tan también bien mal está están
  era fue ser sido será tiene tienen debe deben puede pueden hay que quien cuando donde donde porque
  aunque todavía aún siempre nunca pronto ahora aquí allí ese esa eso esos esas este esta esto estos
  estas otro otra otros otras mismo misma todo toda todos todas cada sobre entre hasta desde durante
  antes después según nuestro nuestra vuestro suyo largo larga corto corta débil fuerte segura seguro
  caducada caducado expirada incorrecta incorrecto inválida válida correcta correcto vacía oculta
  conocida desconocida guardada cifrada cambiada olvidada perdida bloqueada distinta diferente igual
  secreta caracteres letras números palabras obligatoria necesaria mañana ayer dos tres cuatro cinco
  seis siete ocho nueve diez doce demasiado
  gli dei delle della dello degli nel nella nei nelle sul sulla dal dalla alla allo agli alle uno con
  senza per tra fra più meno molto troppo anche bene male non sono era erano sarà stato stata stati
  essere avere deve devono può possono che chi cosa quando dove come perché quindi ancora già sempre
  mai presto adesso ora qui suo sua loro nostro vostro mio tuo questo questa questi quello quella
  altro altra stesso stessa tutto tutta tutti tutte ogni dopo prima durante secondo lunga lungo corta
  corto debole forte sicura sicuro scaduta scaduto errata sbagliata corretta valida vuota nascosta
  nota sconosciuta salvata cifrata cambiata dimenticata persa bloccata diversa uguale segreta
  caratteri lettere numeri parole obbligatoria necessaria domani ieri due tre quattro cinque sei
  sette otto nove dieci dodici
  dos das uma uns umas pelo pela nos nas com sem para mas mais menos muito também bem mal não são era
  foi ser sido será tem têm deve devem pode podem quem quando onde porque ainda sempre nunca logo
  agora aqui ali esse essa isso este esta isto outro outra mesmo mesma todo toda todos todas cada
  sobre entre até desde durante antes depois conforme nosso nossa seu sua seus suas meu minha longa
  curta fraca forte segura expirada vencida incorreta errada correta inválida válida vazia oculta
  conhecida desconhecida guardada salva criptografada alterada trocada esquecida perdida bloqueada
  diferente igual secreta caracteres letras números palavras obrigatória necessária amanhã ontem
  dois três quatro cinco seis sete oito nove dez doze
  het een van voor door met zonder bij aan naar uit over onder tot tegen maar ook nog niet geen wel
  zeer veel meer minder altijd nooit vaak snel nu hier daar dat dit deze die wat wie waar wanneer
  omdat als dan toch zijn was waren wordt worden werd geweest heeft hebben had kan moet mag zal zou
  mijn jouw zijn haar ons onze jullie hun alle alles iedereen niemand iets niets ander andere zelfde
  verlopen onjuist fout juist geldig ongeldig bekend onbekend leeg verborgen opgeslagen versleuteld
  gewijzigd vergeten kwijt geblokkeerd verschillend gelijk geheim tekens letters cijfers woorden
  verplicht nodig morgen gisteren twee drie vijf zes zeven negen tien twaalf lang kort zwak sterk
  oraz albo lub ale lecz jest są był była było będzie być ma mają może mogą musi muszą nie tak też
  już jeszcze zawsze nigdy często teraz tutaj tam ten tego temu tej tych ta tę który która które kto
  kiedy gdzie jak bo więc dla przez przed przy pod nad bez między podczas potem swój nasz wasz jego
  jej ich mój twój każdy każda wszyscy wszystko inny inna inne sam sama same bardzo zbyt więcej mniej
  błędne nieprawidłowe poprawne wygasło ważne nieważne puste ukryte znane nieznane zapisane
  zaszyfrowane zmienione zapomniane zgubione zablokowane różne tajne długie krótkie słabe silne nowe
  stare znaków liter cyfr słów jutro wczoraj dwa trzy cztery pięć
  och eller men inte att som med utan från till för över under efter innan medan här där nu igen
  redan alltid aldrig ofta snart bara också mycket mer mindre mest minst den det detta denna dessa
  vår vårt våra din ditt mitt sitt deras hans hennes alla allt ingen inget någon något annan annat
  samma varje var vara varit blir blev blivit har hade kan ska skulle måste bör får fel rätt utgånget
  giltigt ogiltigt okänt känt tomt dolt sparat krypterat ändrat glömt borttappat spärrat olika lika
  hemligt långt kort svagt starkt nytt gammalt tecken bokstäver siffror ord idag imorgon igår tre fyra
  fem sex sju åtta nio tio tolv
  ikke eller men som med uten uden fra til for efter etter før mens igjen igen allerede alltid altid
  aldri aldrig ofte snart bare også meget mye mere mer mindre den det dette disse vores din mit sit
  deres hans hendes alle alt ingen intet noen nogen andet annet samme hver være været bliver blev
  blitt har hadde havde kan skal skulle må bør får forkert feil riktig rigtig udløbet utløpt gyldig
  ugyldig ukendt ukjent tomt skjult gemt lagret kryptert endret ændret glemt
  bir ve veya ama fakat değil çok daha için gibi kadar sonra önce ile olan olarak var yok bu şu her
  hiç kimse herkes hep bile henüz artık yine tekrar şimdi bugün yarın dün lütfen yanlış doğru geçersiz
  geçerli boş uzun kısa zayıf güçlü yeni eski aynı farklı gizli bilinmiyor otomatik sistem güvenli
  zaten bizim sizin benim onun onlar bütün tüm bazı karakter harf rakam kelime
  není jsou byl byla bylo bude být nebo ale jen také ještě vždy nikdy zde tam ten tato toto který
  která které kdo když kde jak proto při bez pro přes před pod nad mezi velmi více méně špatné správné
  neplatné platné prázdné skryté známé neznámé uložené zašifrované změněné zapomenuté stejné jiné
  automaticky každý každá každou každé den noc měsíc rok dnes zítra včera příliš krátké dlouhé slabé
  silné znaků písmen číslic slov musí může nesmí nutné správce uživatel uživatele systém povinné
  edilen olmayan içeren verilen unutulan bilinen bilinmeyen hesap hesaplar hesabı kullanıcı
  liian lyhyt pitkä heikko vahva tai sekä eikä joka jonka kun jos niin myös vain aina nyt vielä enää
  jälkeen ennen kanssa ilman välein kautta vaan mutta koska että kuin ole ovat oli olla pitää täytyy
  väärä oikea vanha uusi sama eri tyhjä salainen tunnettu tuntematon vanhentunut voimassa unohtunut
  vaihdettu vaihdettava tallennettu lukittu annettu luotu asetettu henkilökohtainen eilen tänään
  huomenna illalla aamulla päivä päivän viikko viikon kuukausi kuukauden vuosi vuoden kolmen merkkiä
  kirjainta numeroa sanaa käyttäjä käyttäjän ylläpito ylläpidon turvallisesti automaattisesti
  helppo vaikea kaikki kaikkien kaikilla tiedossa salassa syytä pidettävä kirjoitettu usein nykyään
  beyond further upstream behind beside along toward against double checked possible easily hardly
  leicht schwer einfach streng vertraulich persönlich öffentlich vermutlich angeblich überall
  facile difficile facilement partout personnel confidentiel fácil difícil personal público
  confidencial facilmente pessoal ovunque confidenziale makkelijk moeilijk gewoon hetzelfde gebleven
  persoonlijk vertrouwelijk overal łatwe trudne poufne wspólne wszędzie lätt svårt detsamma överallt
  skrivet personligt hemlig bakom gemensamt let nem svær skrevet overalt fælles personlig fortrolig
  bag bak snadné těžké všude osobní důvěrné napsané kolay zor kolayca herkesçe ușor greu peste tot`.split(
    /\s+/,
  ),
);

/** First words of a predicate: participles, adverbs, infinitives that continue a sentence. */
const SAID =
  /(?:[a-z]{2}ed|ing|ly|able|ible|lich|bar|iert|isch|ment|mente|[aei]d[oa]s?|[aiu]t[oaie]|é|ée|és|ée?s|aire|owan[eya]|[áa]n[oay]|ione|ony|ona|ane|ene|ad|ats|erad|eret|ert)$|^(?:ge[a-zäöüß]{3,}(?:t|en)|ver[a-zäöüß]{3,}(?:t|en))$/;

/** Verbs of an aim: "the password was changed to meet …". */
const AIMS: ReadonlySet<string> = new Set(
  `meet block contain improve prevent comply avoid ensure protect satisfy reflect allow enable reduce increase
  address stop mitigate follow enforce restore unlock grant limit secure strengthen include exclude
  expire match conform align fulfil fulfill simplify help test verify sync remove stay`.split(
    /\s+/,
  ),
);

/** In four words or fewer, each may be one; in more, an ordinary sentence has a word of the list. */
const FEW = 4;

/** They stand in phrases, too: one among four words or more tells nothing. */
const NUMBERS: ReadonlySet<string> = new Set(
  `one two three four five six seven eight nine ten zwei drei vier fünf sechs sieben acht neun zehn deux
  trois quatre cinq sept huit neuf dix dos tres cuatro cinco seis siete ocho nueve diez due tre quattro
  cinque sei sette otto nove dieci dois três quatro sete oito dez twee vijf zes zeven negen tien dwa trzy
  cztery pięć fyra fem sex sju åtta nio tio`.split(/\s+/),
);

/**
 * Whether words do not form a part of a sentence.
 *
 * @param words in small letters, each of three letters or more
 */
export function areUnrelated(words: readonly string[]): boolean {
  const known = words.filter((word) => WORDS.has(word));
  const isNumbered = known.length === 1 && words.length >= FEW && NUMBERS.has(known[0] ?? '');
  if (known.length > 0 && !isNumbered) return false;
  if (new Set(words).size < words.length) return false;
  const first = words[0] ?? '';
  return !AIMS.has(first) && (words.length > FEW || !SAID.test(first));
}
