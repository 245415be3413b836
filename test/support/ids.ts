/** An id that nobody has. */
export const unknownId = '9007199254740991';

/** Path segments that look more or less like an id, and are none (functions/README.md, Input). */
export const badIds = [
  ...['0', '-1', '+1', '1.0', '1.5', '1e3', '0x10', '0b1', '007', '01', '1_0', '1,2', '1;2'],
  ...['9007199254740992', '9007199254740993', '99999999999999999999', '1'.repeat(500)],
  ...['NaN', 'Infinity', 'null', 'undefined', 'true', 'me', '[object%20Object]', '{id}', '*'],
  ...['%201', '1%20', '%D9%A1', '%EF%BC%91', '__proto__', 'constructor', "1'%20OR%20'1'='1"],
];
