/** The part of a list that a client asks for. */
export interface Page {
  offset: number;
  limit: number;
}

/** The page in Prisma's terms: `findMany({ where, ...rowsOf(page) })`. */
export const rowsOf = ({ offset, limit }: Page) => ({ skip: offset, take: limit });
