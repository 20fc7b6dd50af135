/** A piece of a text or a document that may hold a part of a value. */
export interface Piece {
  readonly text: string;
  /** Where the piece stands in its original text. */
  readonly start: number;
  /** Pieces of different groups are not neighbours. */
  readonly group: number;
  /** For a string in a text: what stands between the previous one and this one. */
  readonly between?: string;
  /** A word for what the piece holds; '' if it has none. */
  readonly label: string;
  /** Whether it is the end of a longer text, where only a key with an issuer's mark is certain. */
  readonly isEnd?: boolean;
  /** Whether its field's name says that it is a part of a value (part-fields.ts). */
  readonly isDeclared?: boolean;
  /** The name of the object in which it is a field; of a leaf only. */
  readonly outer?: string;
}
