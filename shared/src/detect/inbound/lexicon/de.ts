import type { Lexicon } from './lexicon.ts';

export const DE: Lexicon = {
  override: `ignorier*|missacht*|vergiss|vergessen sie|vergesst|übergeh*|überschreib*|umgeh*|umgehst|außer acht|außer kraft
    nicht beachten|beachte nicht|beachten sie nicht|setze dich hinweg|hinwegsetzen|verwirf|verwerfen|nicht mehr gültig
    gelten nicht mehr|gilt nicht mehr|hebe auf|aufgehoben|hinfällig|ungültig|lass beiseite|lasse beiseite|überspring*|ersetzt alle
    ersetzen alle|nicht länger gebunden|keine rücksicht|löse dich von|anstelle von|hat vorrang|haben vorrang|widerrufen`,
  instructions: `anweisung*|regel|regeln|richtlinie*|vorgabe*|instruktion*|anordnung*|vorschrift*|beschränkung*|einschränkung*
    schutzmaßnahm*|befehl*|auftrag|aufträge|aufgabenstellung|prompt*|leitlinie*|grenzen|sicherheitsregel*|bestimmung*
    was dir gesagt|gesagt wurde|deine aufgabe|systemanweis*|systemvorgab*|bisherige*`,
  previous: `vorherig*|bisherig*|früher*|obig*|vorangegangen*|vorangehend*|ursprünglich*|bestehend*|zuvor|oben|alten
    davor|vorig*|erhalten hast|bekommen hast|bis jetzt`,
  ai: `ki|ki assistent*|ki agent*|ki modell*|ki system*|sprachmodell*|chatbot*|künstliche intelligenz|künstlichen intelligenz|der assistent
    liebe ki|an die ki|an den assistenten|assistent|assistenten|assistenzsystem*|ki s|für ki|falls du eine ki|wenn du eine ki
    automatische assistent*|virtueller assistent|digitaler assistent|ki gestützt*|modell das|system das dies`,
  agent: `agent|agenten|bot|bots|modell|modelle|helfer`,
  you: `du|dir|dich|dein|deine|deiner|deinem|deinen|deines|ihnen|ihr|ihre|ihrem|ihren|sie`,
  'the-user': `dem nutzer|der nutzer|den nutzer|dem benutzer|der benutzer|den benutzer|des nutzers|des benutzers|der anwender
    dem anwender|dem kunden der|der anfragende|dem anfragenden|dein nutzer|deinem nutzer|deinen nutzer|dein benutzer|deinem benutzer
    dem menschen|der mensch|dein auftraggeber|dem auftraggeber|die person die|der person die|dem fragesteller`,
  secrecy: `erzähle niemandem|sag nichts|sage nichts|sagen sie nichts|sag dem|sage dem nutzer nicht|erwähne nicht|erwähne das nicht|erwähne dies nicht
    nicht erwähn*|nicht zu erwähnen|ohne zu erwähnen|ohne es zu erwähnen|ohne den nutzer|ohne den benutzer|ohne zu informieren
    ohne hinweis|ohne bescheid|verrate nicht|verrate niemandem|verschweig*|geheim halten|geheim|stillschweigend|heimlich|unauffällig
    im hintergrund|informiere nicht|nicht informieren|nicht mitteilen|nichts davon|unbemerkt|verbirg|verberge|verheimlich*|nicht offenlegen
    ohne wissen|nicht anzeigen|nicht protokollieren|kein wort|zu niemandem|diskret|behalte für dich|nichts verraten|nicht melden
    nichts mitbekommen|muss davon nichts|soll davon nichts|darf davon nichts|braucht davon nichts|nichts darüber|lasse unerwähnt|unerwähnt`,
  unconfirmed: `ohne rückfrage*|ohne nachfrage*|ohne nachzufragen|ohne zu fragen|ohne bestätigung*|ohne weitere|ohne prüfung|ohne freigabe
    ohne genehmigung|ohne zustimmung|ohne überprüfung|ohne zu prüfen|ohne zu zögern|keine bestätigung|keine rückfrage*|keine weitere
    keine freigabe|keine genehmigung|keine prüfung|nicht nachfragen|frage nicht|frag nicht|fragen sie nicht|nicht erforderlich
    nicht nötig|nicht notwendig|entfällt|überspringe die|überspring die|prüfung überspringen|bestätigung überspringen|warte nicht
    ohne abzuwarten|automatisch genehmig*|ohne rücksprache|erübrigt sich|nicht mehr nötig|verzichte auf|kannst du überspringen
    unnötig|brauchst nicht zu fragen|musst nicht fragen|bedarf keiner|braucht keine|ohne erneut*|ohne die übliche*`,
  secret: `passwort|passwörter*|kennwort|kennwörter*|zugangsdaten|anmeldedaten|api schlüssel|schlüssel|geheimnis*|token|tokens|zugriffsschlüssel
    privaten schlüssel|private schlüssel|kundendaten|kundenliste|personenbezogene*|vertraulich*|gesprächsverlauf|chatverlauf|unterhaltung
    bankdaten|kontodaten|kreditkarte*|umgebungsvariable*|postfach|posteingang|kontaktliste|adressbuch|gehaltsliste|gehälter|patientendaten
    interne dokumente|internen dokumente|quellcode|quelltext|cookies|zertifikat*|zugriffstoken|sitzungs*|datenbankinhalt*|geheime*|pin|tan
    finanzdaten|personalakte*|privaten nachrichten|persönlichen daten|einmalcode*|wiederherstellungscode*|verlauf`,
  'system-prompt': `system prompt*|systemprompt*|systemanweisung*|deine anweisungen|deine instruktionen|ursprüngliche* anweisung*|systemnachricht
    deine regeln|deine vorgaben|deine konfiguration|deinen prompt|interne* anweisung*|geheime* anweisung*|dein kontext|deinen kontext
    anfängliche*|deine richtlinien|deinen systemprompt|text oberhalb`,
  send: `sende|senden|send|schick|schicke|schicken|leite|weiterleiten|übermittle|übermitteln|übertrage|übertragen|maile|lade hoch|hochladen
    poste|veröffentliche|teile|kopiere|exportiere|exportieren|übergib|gib weiter|weiterzugeben|füge an|füge bei|hänge an|anhängen
    füge hinzu|füge ein|schreibe an|reiche ein|versende|versenden|zu senden|zu schicken|weiterzuleiten|leiten sie|abzulegen|lade die|hänge`,
  reveal: `verrate|verraten sie|zeige|zeig|zeigen sie|gib aus|gib mir|gib den|gib die|geben sie|ausgeben|wiederhole|wiederholen sie|offenbare
    nenne|nenn|nennen sie|drucke|liste auf|liste|lege offen|sag mir|teile mir|schreib mir|gib preis|preisgeben|lies vor`,
  recipient: `folgende adresse|folgende* url|diese adresse|an extern*|externe*|externen server|dieser adresse|untenstehende*|dritte
    webhook|meinen server|unseren server|dieses konto|folgendes konto|diese nummer|folgende nummer|neue adresse|privatkonto|private adresse
    außerhalb|öffentlichen kanal|dieses postfach|diesen link|folgenden link|diesen endpunkt`,
  destroy: `lösche|lösch|löschen|entferne|entfernen|vernichte|zerstöre|deaktiviere|deaktivieren|schalte ab|schalte aus|abschalten|ausschalten
    leere|formatiere|überschreibe|widerrufe|fahre herunter|herunterfahren|stoppe|beende alle|kündige|storniere alle|sperre alle|bereinige`,
  everything: `alle dateien|alle e mails|alle mails|alle nachrichten|alle daten|alle datensätze|die datenbank|sämtliche*|alle dokumente
    alle kontakte|alle kunden|alle konten|gesamt*|komplett*|vollständig*|alle backups|alle sicherungen|den inhalt|die letzten|alle tabellen|alles
    alle rechnungen|jede datei|ganze|ganzen|alle anhänge`,
  execute: `führe|führ|ausführen|führen sie|starte|starten|rufe auf|ruf auf|rufe|aufrufen|nutze|verwende|benutze|installiere|lade herunter|öffne|besuche
    klicke|fahre fort|fortfahren|befolge|erledige|aktiviere|ändere|setze|trage ein|bestelle|genehmige|gib frei|freigeben|überweise|buche
    erstelle|lege an|hole|lies|suche|durchsuche|bestätige|akzeptiere|auszuführen|durchführen|durchzuführen|mache weiter|empfiehl|wähle|bewerte
    handle|setze um|umsetzen|veranlasse|schließe ab|verarbeite|merge|deploye|aktualisiere|unterschreibe`,
  tool: `werkzeug*|tool|tools|funktion|funktionen|befehl|befehle|skript|shell|terminal|schnittstelle|plugin|api|aktion|aktionen|vorgang`,
  role: `du bist jetzt|du bist nun|du bist ab|du bist nicht länger|du bist nicht mehr|sie sind jetzt|sie sind nun|agiere als|handle als|verhalte dich
    tu so als|tue so als|stell dir vor|gib dich aus|übernimm die rolle|übernimm|schlüpfe in|spiele die rolle|spiel die rolle|deine neue rolle
    deine rolle|dein name ist|du wirst zu|werde zu|betrachte dich|antworte als|du arbeitest jetzt|deine aufgabe ist jetzt|deine neue identität
    du spielst|du fungierst|du handelst|simuliere|in der rolle|benimm dich`,
  persona: `entwicklermodus|uneingeschränkt*|ohne einschränkung*|ohne beschränkung*|keine einschränkung*|keine beschränkung*|ungefiltert*|unzensiert*
    ohne filter|keine filter|keine regeln|ohne regeln|administratormodus|adminmodus|wartungsmodus|debug modus|testmodus|jailbr*|unbegrenzt*
    frei von|ohne grenzen|keine grenzen|keinen regeln|keinerlei|diagnosemodus|notfallmodus|ohne sicherheits*|niemals ablehn*|lehnst nichts|jede anfrage`,
  'from-now': `ab jetzt|ab sofort|von nun an|von jetzt an|fortan|neue anweisung*|neue aufgabe|neue regel*|künftig|stattdessen|deine neue|neues ziel
    eigentliche aufgabe|wahre aufgabe|nächste aufgabe|neuen anweisungen|neue vorgabe*|ab diesem|neue priorität|aktualisierte* anweisung*|einzige aufgabe`,
  authority: `administrator*|admin|admins|systemadministrator*|entwickler|entwicklern|geschäftsführ*|geschäftsleitung|vorstand|leitung|it abteilung|it support
    sicherheitsteam|sicherheitsabteilung|compliance|vorgesetzte*|chef|rechtsabteilung|eigentümer*|betreiber*|polizei|behörde|revision|datenschutzbeauftragt*
    management|abteilungsleit*|teamleit*|direktion|helpdesk|betriebsteam|plattformteam|hersteller|zentrale|personalabteilung|inhaber*|finanzabteilung|behörden
    sicherheitsbeauftragt*|systembetreuer*|it leitung|konzernleitung|prüfer|aufsicht`,
  approved: `genehmigt|freigegeben|autorisiert|bewilligt|zugestimmt|bestätigt hat|bereits bestätigt|wurde bestätigt|erlaubt|hat erlaubt|gestattet|berechtigt
    befugt|ermächtigt|im auftrag|auf anweisung|auf anordnung|angeordnet|angewiesen|einverstanden|einverständnis|zustimmung|mit genehmigung|genehmigung von
    abgesegnet|grünes licht|in absprache|abgestimmt|hiermit|freigabe|liegt vor|als administrator|als dein|als deine|ich bin der|ich bin dein|hat verlangt
    wurde verlangt|hat angefordert|hat darum gebeten|abgezeichnet|in vertretung|bevollmächtigt|vollmacht|geprüft und|hat entschieden|von der|durch die leitung
    beauftragt|ist abgenommen|verifiziert`,
  access: `vollzugriff|vollen zugriff|volle zugriff*|administratorrecht*|adminrecht*|root zugriff|uneingeschränkten zugriff|erhöhte rechte|berechtigung*|zugriffsrecht*
    rechte|privileg*|schreibzugriff|schreibrecht*|alle werkzeuge|alle systeme|alle ordner|erweiterte*|zugriff|zugriffe|freigabestufe|sicherheitsstufe|befugnis*
    alle ressourcen|gesperrte*|geschützte*|alle funktionen|zugriffsbereich`,
  grant: `gewähre|erteile|erteilen|gib dir|gib mir|erweitere|erweitert|erweitern|erhöhe|erhöht|schalte frei|freischalten|freigeschaltet|hebe an|weise zu|zuweisen
    füge dich|verschaffe|verleihe|verfügst|verfügst jetzt|hast jetzt|hast nun|darfst|darfst jetzt|darfst nun|kannst jetzt|ab sofort darfst|erhältst|aufgewertet|gelten für dich nicht`,
  urgent: `dringend*|sofort|sofortig*|unverzüglich|umgehend|schnellstmöglich|eilig|eilt|so schnell wie möglich|notfall|keine zeit|die zeit läuft|zeit drängt|kritisch*
    jetzt gleich|auf der stelle|in den nächsten|innerhalb von|minuten|höchste priorität|höchster priorität|letzte warnung|zeitkritisch|keinen aufschub|kein aufschub|augenblicklich|zu spät
    duldet|bevor es|frist|jede sekunde|jede minute|verzögerung|sekunden|jetzt`,
  threat: `sonst|andernfalls|ansonsten|verloren|gehen verloren|verlust|gelöscht|abgeschaltet|gesperrt|konsequenz*|haftbar|strafe|schaden|sterben|entlassen|menschenleben
    datenverlust|ausfall|unwiderruflich|verantwortlich gemacht|auf dem spiel|gefahr|scheitert|zusammenbruch|vertragsstrafe|katastroph*|irreparabel|steht still`,
  heed: `achtung|wichtig*|hinweis an|hinweis für|nachricht an|mitteilung an|anweisung an|anweisung für|anweisungen für|systemhinweis*|systemmeldung*|systemnachricht*|bitte beachten
    zur beachtung|wichtige anweisung|information für|notiz an|notiz für|vermerk für|lies dies|verpflichtend|bekanntmachung`,
  must: `muss|musst|müssen|sollst|soll|sollen|sollte|stelle sicher|stellen sie sicher|verpflichtet|zwingend|unbedingt|immer|erforderlich|notwendig|ist zu|sind zu|hast zu|haben zu|hat zu`,
  reply: `bevor du antwortest|bevor du fortfährst|bevor du|bevor sie antworten|in deiner antwort|in ihrer antwort|in deine antwort|am ende deiner|am ende jeder antwort|beim zusammenfassen|in der zusammenfassung
    in deiner zusammenfassung|deine antwort|deine nächste|wenn du dies|wenn du das liest|beim lesen|nach dem lesen|wenn du gefragt|sobald du|als nächstes|antworte nur|antworte mit|deine ausgabe
    bei der verarbeitung|beim verarbeiten|vor der antwort|vor jeder antwort|zuerst|bei jeder antwort|jedes mal wenn du|wer dies liest|der dies liest|die dies liest|vor dem aufruf|bei jedem aufruf`,
  decode: `dekodier*|entschlüssel*|decodier*|base64|rot13|rückwärts|umgekehrt|kodiert*|codiert*|anfangsbuchstaben|verschlüsselt*`,
  obey: `befolge|befolgen sie|gehorch*|folge diesen|folge den|folge dieser|folgen sie|halte dich an|tu genau|tue genau|handle entsprechend|diese anweisung*|folgende anweisung*|folgenden anweisung*
    folgende schritte|diese schritte|folgenden schritte|folgendes|leiste folge|nur auf mich|setze dies um|führe diese`,
  assurance: `das ist sicher|ist sicher|völlig sicher|ungefährlich|unbedenklich|keine sorge|kein grund zur sorge|ist ein test|autorisierter test|zu testzwecken|routine*|reine formsache|legitim
    vertrau mir|aus sicherheitsgründen|zu prüfzwecken|offiziell*|standardverfahren|so vorgesehen|ist beabsichtigt|ist informiert|weiß bescheid|ausnahme*|ist bekannt|harmlos|für das audit
    zur qualitätssicherung|üblich*|stellt keinen verstoß`,
  money: `überweis*|zahlung*|bezahle|zahle|rechnung|bankkonto|iban|konto|guthaben|erstattung|gutschein*|betrag|euro|bitcoin|kaufe|empfänger|zahlungsempfänger|geld`,
  safeguard: `protokollierung|überwachung|firewall|sicherheitsfilter|inhaltsfilter|zwei faktor|freigabeprozess|freigabeschritt|genehmigungsprozess|sicherheitsprüfung*|bestätigungsschritt|prüfschritt|kontrollen|prüfung|prüfungen
    vier augen|virenschutz|sicherheitskontroll*|schutzmechanism*|zugriffskontroll*|genehmigungsschritt|sicherheitsabfrage*|schutz|protokoll|üblichen prüfungen|sicherheitsmaßnahm*|freigabeverfahren|abfrage`,
  remember: `merke dir|merk dir|dauerhaft|für alle zukünftigen|in zukunft|zukünftige*|künftige*|alle weiteren|in deinem gedächtnis|gedächtnis|speichere diese anweisung|für den rest|jede weitere|alle folgenden|diese sitzung|dieser sitzung`,
  'test-data': `testdaten|testfall|testfälle|prüffall|prüffälle|prüfdaten|regressionstest|korpus|filter|filtern|erkennung|erkennungsregel*|erwartet|muster|sperrliste|bewertungssatz|beispieldaten|testsatz|eingabefilter|vorlage|vorlagen|prompts|testtexte|einstufung`,
  'security-talk': `angreifer*|angriff*|prompt injection|schwachstelle*|sicherheitslücke*|forscher*|bösartig*|schädlich*|erkenn*|phishing|betrug*|betrüger*|social engineering|bedrohung*|sicherheitsbericht|schadsoftware|vorfall
    manipul*|missbrauch*|abwehr*|sensibilisierung|schulung|verdächtig*|melde|melden sie|filter erkannte|gefälscht*|einschleus*|untersuch*|penetrationstest*|täusch*|red team|weigerte|fake`,
  quoting: `zum beispiel|beispielsweise|z b|etwa|beispiel|beispiele|sätze wie|formulierung*|lautete|lautet|hieß es|enthielt|stand|zitat|wörtlich|sogenannt*|der satz|mit dem text|mit den worten|wie folgt|genannt|bedeutet|titel|namens|der begriff`,
  manual: `klicken|schaltfläche|menü|einstellungen|seite|kapitel|abschnitt|installation|anleitung|handbuch|feld|option|dialog|taste|bildschirm|version|gerät|schraube*|ofen|minuten backen|wasser|rühren|beispielprojekt|ordner|paket
    schritt|schritte|tabelle|abbildung|siehe|dokumentation|filter|batterie|motor|rezept|backen|zugeben|mehl|stecker|ventil|behoben|konfiguration`,
  letter: `sehr geehrte*|liebe kolleg*|liebe|lieber|hallo|guten tag|guten morgen|mit freundlichen grüßen|viele grüße|beste grüße|herzliche grüße|danke|vielen dank|besprechung|sitzung am|anbei|im anhang|termin|team|kollegen|bis morgen|am montag
    am freitag|am donnerstag|rückmeldung|bescheid geben|sag bescheid|ihre bestellung|ihr konto|mittagessen|ihr abo`,
  legal: `vertrag*|partei|parteien|paragraph|absatz|haftung|klausel|gesetz*|gemäß|verordnung|dsgvo|mieter|vermieter|lizenz|auftragsverarbeit*|verantwortliche|gericht|satzung|artikel|auftragnehmer|auftraggeber`,
  narrative: `er|sagte|fragte|flüsterte|antwortete|schrieb|ritter|drache|könig|königin|kommissar|lächelte|lachte|roman|szene|geschichte|figur|es war einmal|kapitän|spieler|spiel|film|theater|schauspiel*|war|waren|hatte|ihm|zauberer|wurde im jahr`,
  never: `niemals|geben sie nie|teilen sie nie|nie weiter|nicht weitergeben|geben sie niemals|wir werden sie nie|dürfen nicht|darf nicht|nicht gestattet|verboten|untersagt|warnung|vorsicht|klicken sie nicht|öffnen sie nicht|sollten nicht|nicht zulässig|vermeiden sie|auf keinen fall|nicht erlaubt`,
  we: `wir|uns|unser|unsere|unserem|unseren|ich|mir|mich|mein|meine|meinem|meinen`,
  please: `bitte|könntest du|könnten sie|kannst du|würden sie|können sie|wären sie so`,
  people: `nutzer können|benutzer können|mitarbeiter|mitarbeitende*|angestellte|kunden|teilnehmer|besucher|studierende|administratoren können|gäste|mitglieder|personen|rollen|rolle|gruppen|gruppe|dienstkonto|iam|ein benutzer|ein nutzer|jeder benutzer|patienten|beschäftigte`,
  'tool-doc': `gibt zurück|liefert|parameter|dieses werkzeug|dieses tool|dieser endpunkt|zeichenkette|json|schnittstelle|methode|klasse|rückgabewert|argument|endpunkt|abfrage|zeitstempel|durchsucht|standardwert|erwartet|wahlweise|sucht nach`,
  may: `kann|können|möglich|optional|erlaubt es|ermöglicht|unterstützt|dürfen`,
};
