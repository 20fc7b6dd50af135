/** The files that are dropped on the page. */
import { randomBytes } from 'node:crypto';
import { VOLUME_LIMITS } from '@governance/shared/evidence/evidence-package';
import { FORGERIES } from '../../verifier/testing/forgeries.ts';
import { GOOD_PACKAGES } from '../../verifier/testing/good-packages.ts';

export interface Files {
  good: string;
  anchor: string;
  /** The anchor's text. */
  anchorText: string;
  forged: string;
  /** The check that finds the forgery. */
  forgedBy: string;
  /** Of the forgery. */
  forgedAnchor: string;
  noise: string;
  tooLarge: string;
  wrongAnchor: string;
}

/** @param write writes a file and returns its path */
export function writeFiles(write: (name: string, content: string | Buffer) => string): Files {
  const [good] = GOOD_PACKAGES;
  const [forgery] = FORGERIES;
  if (!good || !forgery) throw new Error('there are no packages');
  const { bytes, anchor } = good.make();
  const anchorText = JSON.stringify(anchor);
  const forged = forgery.make();
  return {
    good: write('evidence.tar.gz', bytes),
    anchor: write('anchor.json', anchorText),
    anchorText,
    forged: write('forged.tar.gz', forged.bytes),
    forgedBy: forgery.check,
    forgedAnchor: write('forged-anchor.json', JSON.stringify(forged.anchor)),
    noise: write('<img src=x onerror=alert(1)>.tar.gz', randomBytes(5_000)),
    tooLarge: write('large.tar.gz', Buffer.alloc(VOLUME_LIMITS.packedBytes + 1)),
    wrongAnchor: write('wrong.json', anchorText.replace('"evidence"', '"evidences"')),
  };
}
