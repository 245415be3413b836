/** Values of `limit` that a list refuses whose pages hold so many entries at most. */
export const badLimits = (most: number): readonly string[] => [
  ...[String(most + 1), String(most * 10)],
  ...['', '0', '-1', '1.5', '1e1', '0x10', '01', '+1', '%201', '1%20', 'ten', 'NaN'],
  ...['Infinity', '9007199254740993', '99999999999999999999', '1,2', '[1]', 'null'],
];

const flip = (text: string, at: number): string =>
  text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1);

/** A cursor in every way in which it may be altered that a list must notice. */
export const tamperedCursors = (cursor: string): readonly string[] => {
  const [position = '', signature = ''] = cursor.split('.');
  const early = Buffer.from('0').toString('base64url');
  return [
    ...Array.from(cursor, (_, at) => flip(cursor, at)),
    ...['', '.', '..', 'x', 'null', '{}', '%', '\0', '__proto__', '😀', 'x'.repeat(4000)],
    ...[position, `${position}.`, `.${signature}`, `${signature}.${position}`],
    ...[`${cursor}.`, `${cursor}=`, `${cursor}A`, ` ${cursor}`, `${cursor} `, `.${cursor}`],
    ...[cursor.slice(0, -1), cursor.slice(1), `${early}.${signature}`, cursor.toUpperCase()],
  ];
};
