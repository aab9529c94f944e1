// Packets of Opus (RFC 6716). Nothing here accesses the page.

/** The clock rate of Opus, in samples per second. */
export const RATE = 48_000;
// The most samples of a packet: 120 ms (section 3.4).
const LONGEST = 5760;

/** Returns how many samples a packet lasts; 0 if it can't be one. */
export function sampleCount(packet) {
  if (packet.length === 0) return 0;
  const [contents, frames] = packet;
  const kind = contents >> 3;
  const lengths = kind < 12 ? [10, 20, 40, 60] : kind < 16 ? [10, 20, 10, 20] : [2.5, 5, 10, 20];
  // Section 3.2.
  const count = [1, 2, 2, frames & 63][contents & 3];
  const length = (lengths[kind & 3] * count * RATE) / 1000;
  return length <= LONGEST ? length : 0;
}
