/** Reads an archive by few requests, so that a request of a client can wait for them (functions/README.md, The seal). */
import {
  type Archive,
  isContentOf,
  isOfContent,
  type ReadFile,
  type ReadTrail,
  readContent,
  readHeaderOf,
  unpack,
} from './archive.ts';
import type { Finding } from './finding.ts';
import { fileName, isSigned, maxNumber, numberOf, type SignedHeader } from './header.ts';
import { type Item, readLine } from './line.ts';

export interface SearchedArchive extends Pick<Archive, 'read'> {
  /**
   * Lists files from a name on, in the order of names: as many as one request lists.
   * @returns the names, and whether no file follows them
   */
  listFrom(name: string): Promise<{ readonly names: readonly string[]; readonly isLast: boolean }>;
}

export interface SearchedTrail extends ReadTrail {
  readonly archive: SearchedArchive;
}

/** The line of an entry cannot be looked for. */
export class OutOfReach extends Error {
  override readonly name = 'OutOfReach';
  readonly state: 'not_found' | 'too_large' | 'left';
  /** The file that may have the line. */
  readonly file: number | undefined;
  /** What is wrong with that file. */
  readonly finding: Finding['kind'] | undefined;

  constructor(state: OutOfReach['state'], file?: number, finding?: Finding['kind']) {
    super(state);
    this.state = state;
    this.file = file;
    this.finding = finding;
  }
}

const mostHeaders = 20;
const mostLists = 10;

/** The most bytes of second parts that are read, and the most bytes that are unpacked. */
const mostBytes = 2 ** 24;
const mostUnpacked = 2 ** 27;

/** A part of the list: all files from the number `bottom` to the number `top`, newest first. */
interface ListedPart {
  readonly top: number;
  bottom: number;
  readonly numbers: number[];
}

/** An archive of which only so much is read; its methods throw OutOfReach beyond that, and the archive's errors. */
export class BoundedTrail {
  readonly trail: SearchedTrail;
  readonly known: SignedHeader | undefined;
  private readonly files = new Map<number, ReadFile>();
  private readonly parts: ListedPart[] = [];
  private lists = 0;
  private bytes = 0;
  private unpacked = 0;

  /** @param known the header of a file, the newest or an older one; absent: none is known */
  constructor(trail: SearchedTrail, known?: SignedHeader) {
    this.trail = trail;
    this.known = known;
  }

  /** The known headers that the key has signed, by their numbers. */
  headers(): readonly SignedHeader[] {
    const read = [...this.files.values()].map(({ header }) => header).filter(isSigned);
    return [...read, ...(this.known ? [this.known] : [])].sort((a, b) => a.number - b.number);
  }

  /** The file with the greatest number up to a given number; undefined if there is none. */
  async atOrBelow(number: number): Promise<ReadFile | undefined> {
    const { numbers } = await this.partWith(number);
    const found = numbers.find((each) => each <= number && each > 0);
    return found === undefined ? undefined : this.file(found);
  }

  /** The file with the least number above a given number; undefined if there is none. */
  async above(number: number): Promise<ReadFile | undefined> {
    const { numbers, top } = await this.partWith(number + 1);
    const found = numbers.findLast((each) => each > number);
    if (found !== undefined) return this.file(found);
    if (top === maxNumber) return undefined;
    throw new OutOfReach('not_found');
  }

  /** The line of an id in a file; undefined if the file has none. */
  async findLine(header: SignedHeader, id: number): Promise<Item | undefined> {
    const { number, length } = header;
    this.bytes += length;
    if (this.bytes > mostBytes) throw new OutOfReach('too_large', number);
    const content = await readContent(this.trail, header);
    if (!isContentOf(header, content)) throw new OutOfReach('not_found', number, 'altered');
    const member = `"id":${id}`;
    try {
      for await (const lines of unpack(content, (bytes) => this.countUnpacked(bytes, number))) {
        const found = lines.filter((line) => line.includes(member)).map(readLine);
        const item = found.find((each) => each.id === id);
        if (item) return item;
      }
    } catch (error) {
      if (isOfContent(error)) throw new OutOfReach('not_found', number, 'altered');
      throw error;
    }
    return undefined;
  }

  private countUnpacked(bytes: number, number: number): void {
    this.unpacked += bytes;
    if (this.unpacked > mostUnpacked) throw new OutOfReach('too_large', number);
  }

  private async file(number: number): Promise<ReadFile> {
    const known = this.files.get(number);
    if (known) return known;
    if (this.files.size >= mostHeaders) throw new OutOfReach('not_found');
    const file = await readHeaderOf(this.trail, number);
    this.files.set(number, file);
    return file;
  }

  /** The part of the list that has a number: one request lists a thousand files, so that it mostly has the next ones. */
  private async partWith(number: number): Promise<ListedPart> {
    const known = this.parts.find(({ top, bottom }) => bottom <= number && number <= top);
    if (known) return known;
    const isAtEnd = number + mostHeaders >= (this.known?.number ?? 0);
    const top = isAtEnd ? maxNumber : number + mostHeaders;
    const part: ListedPart = { top, bottom: top + 1, numbers: [] };
    this.parts.push(part);
    while (part.bottom > number) await this.listOn(part);
    return part;
  }

  private async listOn(part: ListedPart): Promise<void> {
    this.lists += 1;
    if (this.lists > mostLists) throw new OutOfReach('not_found');
    const { names, isLast } = await this.trail.archive.listFrom(fileName(part.bottom - 1));
    part.numbers.push(...names.flatMap((name) => numberOf(name) ?? []));
    const last = part.numbers.at(-1);
    if (!isLast && (last === undefined || last >= part.bottom)) throw new OutOfReach('not_found');
    part.bottom = isLast ? 0 : (last ?? 0);
  }
}
