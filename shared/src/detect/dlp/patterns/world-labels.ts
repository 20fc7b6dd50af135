/**
 * Words that announce a number of a person in languages that `labels.ts` has only in part: those of
 * Eastern Europe, the north, Turkey and Asia, and more words of forms in the others.
 */

export const WORLD_ID_LABELS: readonly string[] = [
  '(?i)身份證|公民身份|身分証|基礎年金番号|外国人登録|외국인 ?등록|주민 ?번호|บัตรประชาชน|מספר זהות|पैन नंबर',
  '(?i)adóazonosító|személyi szám|társadalombiztosítási|матични број|јмбг|иин|жсн|індивідуальний податковий|податковий номер|единен граждански|cod numeric personal|r\\.? ?č\\.(?: |:)|ik[ -]?kood|isikukood|personas kods|asmens kodas|kennital|\\bkt\\.? ?:|nr\\.? ?identyfikacyjny|\\bnss\\b|afiliaci[óo]n (?:a la )?seg|medicare (?:card|no\\b|number)|social welfare number|yt[uü]nnus',
];

/** Papers of a person. */
export const WORLD_DOCUMENT_LABELS: readonly string[] = [
  '(?i)旅券|在留カード|运转免许|驾照|駕照|駕駛執照|居留许可|居住证|通行证|通行證|운전 ?면허|체류 ?카드|dow(?:ód|od(?:u|em)?) osobist|dowodu osobistego|paszportu|praw(?:a|em) jazdy|občansk(?:ý|ého) průkaz|občiansk(?:y|eho) preukaz|\\bč\\. ?op\\b|cestovní(?:ho)? pas|řidičsk|vodičsk|személyi(?:gazolvány| igazolvány)|útlevél|jogosítvány|vezetői engedély|carte(?:a)? de identitate|buletin|pa[șşs]aport|permis(?:ul)? de conducere|osobn(?:a|e) iskaznic|osebn(?:a|e) izkaznic|lič(?:na|ne) kart|putovnic|paso[šs]\\b|potn(?:i|ega) list|vozačk|vozniš|kimlik kart|ehliyet|sürücü belgesi|pasaport|körkort|førerkort|kørekort|ajokortti|ökuskírteini|vegabréf',
  '(?i)\\bpass(?:nummer|nr\\b|-nr)|passin numero|henkilökortti|pasnummer|\\bpas ?nr\\b|identiteitskaart|verblijfs(?:titel|vergunning|document)|permesso di soggiorno|titre de s[ée]jour|carte de s[ée]jour|permiso de residencia|t[íi]tulo de resid|autoriza[çc][ãa]o de resid|documento de identidad|(?:carn[ée]|permiso) de conducir|carta de condu|bilhete de identidade|cart[ãa]o de cidad|\\bpatente (?:n|nr|num)|водительск|удостоверени|посвідчення|вид на жительство|закордонн|загранпаспорт|διαβατηρί|διαβατήρι|άδεια οδήγησης|δίπλωμα οδήγησης|αρ\\.? ταυτότητας|ταυτότητας|шофьорск|лична карта|vadītāja apliecīb|vairuotojo|juhiluba',
  '(?i)hộ chiếu|giấy phép lái xe|bằng lái|\\bpaspor\\b|surat izin mengemudi|lesen memandu|หนังสือเดินทาง|ใบขับขี่|पासपोर्ट|ड्राइविंग लाइसेंस|جواز السفر|رقم الجواز|رخصة (?:ال)?قيادة|דרכון|רישיון נהיגה|voter id|epic no',
];

/** Records of patients, customers, members, insured people, pupils, staff and cases. */
export const WORLD_RECORD_LABELS: readonly string[] = [
  '(?i)病案号|住院号|门诊号|就诊(?:卡)?号|医保(?:卡)?号|社保(?:卡)?号|社会保障(?:卡)?号|工号|学号|会员(?:编)?号|保单号|客户号|理赔号|案号|案件编号|病歷號|健保卡號?|保單號碼?|會員編號|員工編號|學號|被保険者番号|保険証番号|被保険者証|診療番号|受診番号|社員番号|職員番号|学籍番号|会員番号|お客様番号|契約者?番号|証券番号|受給者番号|事件番号|환자 ?(?:등록)? ?번호|병록 ?번호|차트 ?번호|진료 ?번호|회원 ?번호|고객 ?번호|사원 ?번호|사번|학번|보험증? ?번호|증권 ?번호|가입자 ?번호|사건 ?번호',
  '(?i)vorgangs-?(?:nummer|nr\\b)|schaden-?s?(?:nummer|nr\\b)|kassenzeichen|beihilfe-?nummer|bewerber-?(?:nummer|nr\\b)|vertragskonto|mandanten-?(?:nummer|nr\\b)|beleg des patienten|num[ée]ro de (?:sinistre|adh[ée]rent|b[ée]n[ée]ficiaire|matricule|s[ée]jour)|n[°º] (?:de )?(?:sinistre|adh[ée]rent|contrat|s[ée]jour|allocataire)|identifiant (?:patient|client)|n[úu]mero de (?:siniestro|empleado|colegiado|asegurado|sinistro|processo|benefici[áa]rio)|n[°º] (?:de )?(?:historia|expediente|afiliaci[óo]n|p[óo]liza|socio|empleado|paciente|utente|processo|cliente|ap[óo]lice)|\\bn(?:hc|uss)\\b ?[:=#]',
  '(?i)numero (?:di )?(?:sinistro|matricola|tessera|assicurato|polizza)|n\\. (?:pratica|tessera|cliente|matricola|polizza|sinistro)|nr (?:klienta|szkody|sprawy|legitymacji|ubezpieczenia|pracownika|ewidencyjny)|sygnatura akt|zaaknummer|schadenummer|cli[ëe]ntnummer|polisnr|\\behic\\b|number of (?:the )?(?:card ?)?holder|tajnr|policy\\+(?:number|no)',
  '(?i)[äa]rendenummer|f[öo]rs[äa]kringsnummer|skadenummer|journalnr|sagsnummer|policenummer|forsikringsnummer|saksnummer|kundenummer|polisenummer|pasientnummer|ansattnummer|potilasnumero|asiakasnumero|j[äa]sennumero|vakuutusnumero|opiskelijanumero|ty[öo]ntekij[äa]numero|č[íi]slo (?:pacienta|pojištěn|poji[sš]tky|smlouvy|poistky|klienta|karty)|törzsszám|betegazonosító|ügyfélszám|ügyszám|kötvényszám|num[ăa]r(?:ul)? (?:de )?(?:dosar|pacient|client|poli[țt])|\\bnr\\.? (?:dosar|poli[țt][ăa]|client)|hasta no|dosya no|m[üu][şs]teri no|poli[çc]e no|sicil no|[öo][ğg]renci no|[üu]ye no',
  '(?i)historii choroby|ksi[ęe]gi g[łl][óo]wnej|\\bpolis ?(?:nr\\b|nummer|no\\b)|\\bpolis-nr\\b|carteirinha(?:[ \\t][a-z\\x{c0}-\\x{24f}]{2,14}){0,3}[ \\t]?(?:n[º°o.]|n[úu]m|[:=#])|carteirinha \\d|cart[ãa]o (?:do )?sus\\b|\\bn\\.?[°º]\\.? (?:d[eoa] )?(?:carteirinha|prontu[áa]rio|funcion[áa]rio|alumn[oa]|alun[oa]|estudiante|asegurad|colegiad|interno|recluso|mecanogr[áa]fico|benefici[áa]ri)|\\bnis/pis\\b|num[ée]ro (?:de )?(?:s[ée]cu de l|usager|assistant)',
  '(?i)broj (?:pacijenta|police|kartona|predmeta|klijenta)|številka (?:pacienta|police|zadeve)|αριθμ[όo][ςσ] (?:μητρώου|ασθεν|φακέλου|πελάτη|μέλους|ασφαλ)|ΑΜ ασθεν',
  '(?i)номер (?:дела|договора|истории|амбулаторн|страхов|участника|студенч)|№ (?:дела|полиса|карты|договора|истории)|полис(?:а)? омс|табельный номер|лицевой сч[её]т|история болезни|номер (?:справи|поліса|картки|клієнта|пацієнта)|mã (?:số )?(?:bệnh nhân|khách hàng|nhân viên|sinh viên|bhyt|hồ sơ)|số (?:hồ sơ|thẻ bhyt|bảo hiểm|hợp đồng)|no(?:mor)?\\.? (?:rekam medis|pasien|peserta|polis|pelanggan|induk|bpjs|anggota|ahli|kakitangan)|เลขที่ผู้ป่วย|เลขประจำตัวผู้ป่วย|เลขสมาชิก|รหัสพนักงาน|رقم (?:المريض|الملف|العميل|العضوية|الوثيقة|الموظف|القضية|البوليصة)|מספר (?:מטופל|לקוח|תיק|עובד|חבר|פוליסה)',
];

/** Mobile and landline numbers. */
export const WORLD_PHONE_LABELS: readonly string[] = [
  '(?i)\\bnatel\\b|festnetz|privatnummer|dienstnummer|\\bfijo ?[:=]|\\bfisso ?[:=]|\\bfixe ?[:=]|vaste lijn|vast nummer|matkapuh|kännyk|\\bgsm[-. ]?(?:nr|nummer|szám|broj)|mobitel|mobiln[íiaoe]|мобильн|мобільн|мобилен|моб\\.|сотов|\\bтел\\.|\\bcep (?:tel|no|numara)|cep telefonu|\\bgsm no|farsími|\\bsími\\b|tālr|mobiil|\\bmob\\. ?(?:nr|tel)|stacjonarn',
  '(?i)κινητ[όο]|κιν\\.|\\bτηλ\\b|τηλ\\.|τηλέφων|τηλεφων|σταθερ[όο] ?(?:[:=]|τηλ)|هاتف|الجوال|جوال|موبايل|تلفن|تلفون|همراه|טלפון|נייד|פלאפון|मोबाइल|फ़ोन नंबर|फोन नंबर|दूरभाष|เบอร์โทร|โทรศัพท์|มือถือ|โทร\\.|điện thoại|\\bsđt\\b|\\bđt ?:|di động|nomor (?:hp|telepon|wa)|no\\.? ?(?:hp|telp|telefon)|\\bponsel\\b|\\btelp\\b|座机|座機|固话|行動電話|联系方式|聯絡電話|ケータイ|直通|폰 ?번호|휴대전화|손전화|유선 ?번호',
];

/** Birth. */
export const WORLD_BIRTH_LABELS: readonly string[] = [
  '(?i)출생|생일|생년|誕生日|生年|出生日|出生时间|出生于|生日|วันเกิด|เกิดวันที่|เกิดเมื่อ|जन्म ?(?:तिथि|दिनांक|तारीख)|जन्मतिथि|تاريخ الولادة|مواليد|تاریخ تولد|متولد|تاریخ پیدائش|ת\\.? ?לידה|נולדה? ב|ημ(?:/νία|\\.|ερ\\.)? ?γέν|γεννήθηκε|γεννηθ',
  '(?i)\\bд\\. ?р\\.|рожд(?:ения|\\.)|\\bд\\. ?н\\.|народив|народилас|народжен|дата на раждане|роден[а]? на|датум рођења|рођен|rođen|datum rojstva|rojen|dátum narodenia|narodený|született|\\bszül\\.|szül(?:etési)? ?id|\\bsynt\\.|sünniaeg|sünnikuup|sündinud|dzimšanas|dzimis|dzimusi|gimimo|gimęs|gimusi|născut|naşterii|\\bdoğum|doğumlu|d\\. ?tarihi|ngày tháng năm sinh|sinh ngày|\\bsinh:|t(?:gl|anggal)\\.? ?lahir|tarikh lahir|lahir:|fæðingardag|fædd|fødselsdag|födelsedag|data de naixement|datëlindja|dyddiad geni|dáta breithe',
];
