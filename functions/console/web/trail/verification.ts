/** The check of the chain of digests by this browser, from the service's pages of it. */
import { useRef, useState } from 'preact/hooks';
import { api, Failure, send, sendForPage } from '../api.ts';
import { announce } from '../components/notice.tsx';
import { useWalk } from '../walk.ts';
import {
  type Break,
  breakAtEnd,
  type Chain,
  nothingVerified,
  readKey,
  type SeenDigest,
  type Verifier,
  verifyNext,
} from './chain.ts';

const digests = '/api/admin/audit-seal/digests';

const readDigests = (next: string | undefined, signal: AbortSignal) => {
  const options = { parseAs: 'text', signal } as const;
  return sendForPage(
    next
      ? api.GET(next as typeof digests, options)
      : api.GET(digests, { ...options, params: { query: { limit: 100 } } }),
  );
};

const openVerifier = async (fingerprint: string, seen?: SeenDigest): Promise<Verifier> => {
  const pem = await send(api.GET('/api/admin/audit-seal/public-key', { parseAs: 'text' }));
  const key = await readKey(pem).catch(() => {
    throw new Failure(
      'This browser cannot verify Ed25519 signatures here. Use a current one, by HTTPS or on localhost.',
    );
  });
  if (key.fingerprint === fingerprint) return { ...key, now: Date.now(), seen };
  throw new Failure('The public key is not the one whose fingerprint the service shows.');
};

/** When the oldest entry was made: the chain begins about there. 0 without one. */
const readOldest = async (): Promise<number> => {
  const query = { order: 'asc', limit: 1 } as const;
  const page = await send(api.GET('/api/admin/audit-logs', { params: { query } }));
  return typeof page === 'string' ? 0 : Date.parse(page.data[0]?.created_at ?? '') || 0;
};

/** How much of the time from the oldest entry until the newest digest was verified. */
const shareOf = ({ newest, oldest }: Chain, begin: number): number => {
  if (!newest || !oldest) return 0;
  const until = Date.parse(newest.until);
  return Math.min(1, (until - Date.parse(oldest.from)) / Math.max(1, until - begin));
};

interface Progress {
  readonly chain: Chain;
  readonly broken?: Break | undefined;
}

/** Verifies the digests of a page, and after the last one whether they may end there. */
const verifyPage = async (
  begun: Chain,
  { text, isLast }: { text: string; isLast: boolean },
  verifier: Verifier,
): Promise<Progress> => {
  let chain = begun;
  for (const line of text.split('\n').filter(Boolean)) {
    const next = await verifyNext(chain, line, verifier);
    if ('fault' in next) return { chain, broken: next };
    chain = next;
  }
  return { chain, broken: isLast ? breakAtEnd(chain, verifier.seen) : undefined };
};

export interface VerificationProps {
  /** Of the key that the service shows. */
  readonly fingerprint: string;
  /** The newest digest of the last verification. */
  readonly seen: SeenDigest | undefined;
  readonly onVerified: (newest: SeenDigest) => void;
}

/** A check of the chain, page by page. */
export const useVerification = ({ fingerprint, seen, onVerified }: VerificationProps) => {
  const [progress, setProgress] = useState<Progress>({ chain: nothingVerified });
  // A check outlives the rendering that began it.
  const begun = useRef<{ verifier: Verifier; oldest: number; chain: Chain }>(undefined);
  const finish = ({ newest }: Chain) => {
    announce('The chain is unbroken.');
    if (newest) onVerified({ file: newest.file, sha256: newest.sha256 });
  };
  const walk = useWalk(
    async (next, signal) => {
      if (!next) {
        const verifier = await openVerifier(fingerprint, seen);
        begun.current = { verifier, oldest: await readOldest(), chain: nothingVerified };
      }
      return readDigests(next, signal);
    },
    async (text, isLast) => {
      if (!begun.current) return false;
      const { chain: before, verifier } = begun.current;
      const { chain, broken } = await verifyPage(before, { text, isLast }, verifier);
      begun.current.chain = chain;
      setProgress({ chain, broken });
      if (broken) announce('The chain is broken.');
      else if (isLast) finish(chain);
      return !broken;
    },
  );
  const again = () => {
    setProgress({ chain: nothingVerified });
    walk.reset();
    walk.start();
  };
  return {
    ...walk,
    ...progress,
    share: shareOf(progress.chain, begun.current?.oldest ?? 0),
    again,
  };
};
