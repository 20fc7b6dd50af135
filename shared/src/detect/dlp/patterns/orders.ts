/** Numbers of orders, invoices and shipments: one in ten of the form of a person's passes for one. */

const WORDS_OF =
  'tracking|shipment|parcel|order|invoice|waybill|ticket|receipt|sendung|bestell|auftrag|rechnung|beleg|colis|commande|facture|env[íi]o|pedido|factura|albar[áa]n|fatura|encomenda|ordine|fattura|spedizion|bestelling|factuur|zending|zam[óo]wien|faktur|przesy[łl]|beställning|ordre|försändelse|objednáv|zásilk|rendelés|számla|csomag|tilaus|lasku|lähetys|comand[ăa]|sipari[şs]|fatura|kargo|заказ|накладн|посылк|замовлен|поръчк|παραγγελ|τιμολογ|τιμολόγ|طلب|فاتورة|شحنة|تتبع|سفارش|הזמנה|משלוח|חשבונית|ऑर्डर|คำสั่งซื้อ|พัสดุ|đơn hàng|vận đơn|hóa đơn|pesanan|resi|伝票|注文|追跡|送り状|請求書|运单|快递|订单|訂單|发票|송장|주문|운송장';
const NEAR = new RegExp(WORDS_OF, 'i');
/** Right before the number, at most with a word for number between them. */
const RIGHT_BEFORE = new RegExp(
  `(?:${WORDS_OF})[\\p{L}]{0,6}(?:[ _-]?(?:no|nr|num|number|id|ref|код|номер|numarası|番号|号|號|번호))?[\\s:：#№°º.=]{0,4}$`,
  'iu',
);
const BEFORE = 24;
const GROUPED = /^\d{4}[ -]\d{4}[ -]\d{4}$/;
/** The day on which a case was opened, and its number: 2025-0619-4471. */
const OF_A_DAY = /^20[0-3]\d[ -](?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])[ -]/;
/** A date and a running number. */
const DATED = /^(?:(?:19|20)\d{6}|\d{6})[-+]\d{4}$/;

/** Whether a number that could be a person's is one of an order. */
export function isOfAnOrder(text: string, start: number, written: string): boolean {
  const before = text.slice(Math.max(0, start - BEFORE), start);
  if (GROUPED.test(written)) return OF_A_DAY.test(written) || NEAR.test(before);
  return DATED.test(written) && RIGHT_BEFORE.test(before);
}
