/** A table in Markdown; bars in its cells are escaped. */
export function format(head: string[], rows: string[][]): string {
  const line = (cells: string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
  const rule = head.map(() => '---');
  return `${[head, rule, ...rows].map(line).join('\n')}\n`;
}
