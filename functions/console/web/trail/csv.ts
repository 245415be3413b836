/**
 * The records of a page of CSV, and how many they are.
 * @param isFirst whether the header stays
 */
export const csvPart = (page: string, isFirst: boolean): { text: string; count: number } => {
  // A line break within quotes ends no record. Quotes within quotes are doubled.
  const records = page.replaceAll(/"[^"]*"/g, '').split('\r\n').length - 2;
  return { text: isFirst ? page : page.slice(page.indexOf('\r\n') + 2), count: records };
};
