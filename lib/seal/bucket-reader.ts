/** Reads the archive in its bucket of S3 without the SDK, for the function that compares an entry. */
import { namedError } from '../ground/errors.ts';
import { getFromBucket } from '../keys/signed-request.ts';
import { archivePrefix } from './archive.ts';
import type { SearchedArchive } from './bounded-trail.ts';

/**
 * An archive in a bucket, of whose files the first versions count.
 * @param url the URL of the bucket
 * @throws the errors of the network, and errors with the codes of S3, from its methods
 */
export function bucketReader(url: string): SearchedArchive {
  /** The first versions of the files that were listed: a first version never changes. */
  const versions = new Map<string, string | undefined>();
  return {
    listFrom: async (name) => {
      // The marker is the greatest text that is sure to be before the name.
      const marker = archivePrefix + name.slice(0, -1);
      const query = { versions: '', prefix: archivePrefix, 'key-marker': marker };
      const { status, content } = await getFromBucket({ url, query, most: longestList });
      const text = content.toString();
      if (status !== 200) throw refusalOf(status, text);
      const isLast = !text.includes('<IsTruncated>true</IsTruncated>');
      const listed = firstVersionsIn(text);
      const names = [...listed.keys()];
      // The first version of the last name may be in the next part of the list.
      if (!isLast) names.pop();
      for (const each of names) versions.set(each, listed.get(each));
      return { names, isLast };
    },
    read: async (name, start, end) => {
      const versionId = versions.get(name);
      if (versionId === undefined) return undefined;
      const { status, content } = await getFromBucket({
        url: `${url}/${archivePrefix}${name}`,
        query: { versionId },
        headers: { range: `bytes=${start}-${end - 1}` },
        most: Math.max(end - start, longestList),
      });
      if (status === 206) return content;
      const refusal = refusalOf(status, content.toString());
      if (notThere.includes(refusal.name)) return undefined;
      throw refusal;
    },
  };
}

/** The most bytes of a list: 1,000 versions, whose names have at most 1,024 bytes each before they are escaped. */
const longestList = 16_000_000;

/** The codes of S3 for an object or a range that does not exist. */
const notThere = ['NoSuchKey', 'NoSuchVersion', 'InvalidRange'];

function refusalOf(status: number, text: string): Error {
  return namedError(/<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? `Http${status}`);
}

/** The first versions in a list, which has them after the later versions of their names; undefined: only marks. */
function firstVersionsIn(text: string): ReadonlyMap<string, string | undefined> {
  const found = new Map<string, string | undefined>();
  for (const [, kind, item = ''] of text.matchAll(/<(Version|DeleteMarker)>(.*?)<\/\1>/gs)) {
    const name = (/<Key>(.*?)<\/Key>/s.exec(item)?.[1] ?? '').slice(archivePrefix.length);
    const id = /<VersionId>(.*?)<\/VersionId>/s.exec(item)?.[1];
    found.set(name, kind === 'Version' ? id : found.get(name));
  }
  return found;
}
