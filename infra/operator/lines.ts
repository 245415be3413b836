/** A line of a file, by its number from 1 on. */
export interface Line {
  readonly number: number;
  /** Bytes of the file up to its end. */
  readonly end: number;
  /** Absent when it cannot be read; `fault` then says why. */
  readonly text?: string;
  readonly fault?: string;
}

const newline = 0x0a;
const utf8 = new TextDecoder('utf-8', { fatal: true });

const decode = (bytes: Buffer): Pick<Line, 'text' | 'fault'> => {
  try {
    return { text: utf8.decode(bytes).replace(/\r$/, '') };
  } catch {
    return { fault: 'is not valid UTF-8' };
  }
};

/**
 * The lines of a text as it arrives, never more than one of them in memory. Lines end in LF or
 * CRLF; the last one may do without.
 * @param maxBytes what a longer line has beyond it is dropped, and its text with it
 */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
  { maxBytes }: { maxBytes: number },
): AsyncGenerator<Line> {
  let [number, end, length] = [0, 0, 0];
  let parts: Buffer[] = [];
  const take = (bytes: Buffer) => {
    length += bytes.length;
    if (length <= maxBytes) parts.push(bytes);
  };
  const finish = (): Line => {
    number += 1;
    const content =
      length > maxBytes
        ? { fault: `is longer than ${maxBytes} bytes` }
        : decode(Buffer.concat(parts));
    [parts, length] = [[], 0];
    return { number, end, ...content };
  };

  for await (const chunk of chunks) {
    let from = 0;
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
      take(chunk.subarray(from, at));
      end += at + 1 - from;
      from = at + 1;
      yield finish();
    }
    take(chunk.subarray(from));
    end += chunk.length - from;
  }
  if (length > 0) yield finish();
}
