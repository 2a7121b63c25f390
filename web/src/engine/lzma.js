// Unpacks LZMA, which browsers do not: a sixth smaller than what they unpack (gzip). After the LZMA specification (Igor Pavlov,
// public domain), with the output itself as its dictionary.

// Where the probabilities of each kind stand in one list.
const kStates = 12;
const kPositions = 16;
const kIsMatch = 0;
const kIsRepeat = kIsMatch + kStates * kPositions;
const kIsRepeat0 = kIsRepeat + kStates;
const kIsRepeat1 = kIsRepeat0 + kStates;
const kIsRepeat2 = kIsRepeat1 + kStates;
const kIsShort = kIsRepeat2 + kStates;
const kSlots = kIsShort + kStates * kPositions;
const kDistances = kSlots + 4 * 64;
const kAligned = kDistances + 128;
const kLengths = kAligned + 16;
const kRepeatLengths = kLengths + 2 + 2 * 8 * kPositions + 256;
const kLiterals = kRepeatLengths + 2 + 2 * 8 * kPositions + 256;
const kLiteralSize = 0x300;
const kHeader = 13;

const afterLiteral = (state) => (state < 4 ? 0 : state < 10 ? state - 3 : state - 6);

/** The arithmetic decoder: bits by probabilities that follow what was seen. */
class Bits {
  constructor(packed, count) {
    this.packed = packed;
    this.probabilities = new Uint16Array(count).fill(1024);
    this.at = kHeader + 5;
    this.range = -1; // of 32 bits without sign
    this.code = new DataView(packed.buffer, packed.byteOffset).getInt32(kHeader + 1);
  }

  bit(place) {
    const { probabilities } = this;
    const probability = probabilities[place];
    const bound = Math.imul(this.range >>> 11, probability);
    let read = 0;
    if (this.code >>> 0 < bound >>> 0) {
      this.range = bound;
      probabilities[place] = probability + ((2048 - probability) >> 5);
    } else {
      this.range = (this.range - bound) | 0;
      this.code = (this.code - bound) | 0;
      probabilities[place] = probability - (probability >> 5);
      read = 1;
    }
    if (this.range >>> 24 === 0) this.shift();
    return read;
  }

  shift() {
    this.range <<= 8;
    this.code = (this.code << 8) | this.packed[this.at];
    this.at += 1;
  }

  /** Bits of even chances. */
  plain(count) {
    let read = 0;
    for (let i = 0; i < count; i += 1) {
      this.range >>>= 1;
      const one = this.code >>> 0 >= this.range >>> 0 ? 1 : 0;
      if (one) this.code = (this.code - this.range) | 0;
      read = (read << 1) | one;
      if (this.range >>> 24 === 0) this.shift();
    }
    return read;
  }

  /** A number of some bits, the highest first. */
  tree(place, count) {
    let read = 1;
    for (let i = 0; i < count; i += 1) read = (read << 1) | this.bit(place + read);
    return read - (1 << count);
  }

  /** A number of some bits, the lowest first. */
  reversed(place, count) {
    let read = 0;
    let node = 1;
    for (let i = 0; i < count; i += 1) {
      const one = this.bit(place + node);
      node = (node << 1) | one;
      read |= one << i;
    }
    return read;
  }

  length(place, position) {
    if (this.bit(place) === 0) return 2 + this.tree(place + 2 + 8 * position, 3);
    if (this.bit(place + 1) === 0) return 10 + this.tree(place + 2 + 8 * (kPositions + position), 3);
    return 18 + this.tree(place + 2 + 16 * kPositions, 8);
  }

  /** How far back a match lies, less one. */
  distance(length) {
    const slot = this.tree(kSlots + 64 * Math.min(length - 2, 3), 6);
    if (slot < 4) return slot;
    const count = (slot >> 1) - 1;
    const head = (2 | (slot & 1)) << count;
    if (slot < 14) return head + this.reversed(kDistances + head - slot, count);
    return head + (this.plain(count - 4) << 4) + this.reversed(kAligned, 4);
  }

  /** A byte; `match` is the one at the last distance where that is likely, else undefined. */
  literal(place, match) {
    let read = 1;
    if (match !== undefined) {
      let rest = match;
      while (read < 0x100) {
        const expected = (rest >> 7) & 1;
        rest <<= 1;
        const one = this.bit(place + ((1 + expected) << 8) + read);
        read = (read << 1) | one;
        if (one !== expected) break;
      }
    }
    while (read < 0x100) read = (read << 1) | this.bit(place + read);
    return read & 0xff;
  }
}

/**
 * What was packed; the header says how large that is.
 * @param {Uint8Array} packed
 */
export function unlzma(packed) {
  const context = packed[0] % 9;
  const rest = Math.floor(packed[0] / 9);
  const lowMask = (1 << (rest % 5)) - 1;
  const positionMask = (1 << Math.floor(rest / 5)) - 1;
  const size = Number(new DataView(packed.buffer, packed.byteOffset).getBigUint64(5, true));
  const bits = new Bits(packed, kLiterals + (kLiteralSize << (context + (rest % 5))));
  const out = new Uint8Array(size);
  let state = 0;
  let [first, second, third, fourth] = [0, 0, 0, 0]; // the last distances, less one
  let at = 0;
  while (at < size) {
    const position = at & positionMask;
    if (bits.bit(kIsMatch + kPositions * state + position) === 0) {
      const before = at > 0 ? out[at - 1] : 0;
      const place = kLiterals + kLiteralSize * (((at & lowMask) << context) + (before >> (8 - context)));
      out[at] = bits.literal(place, state < 7 ? undefined : out[at - first - 1]);
      at += 1;
      state = afterLiteral(state);
      continue;
    }
    let length = 1;
    if (bits.bit(kIsRepeat + state) === 0) {
      [second, third, fourth] = [first, second, third];
      length = bits.length(kLengths, position);
      first = bits.distance(length);
      state = state < 7 ? 7 : 10;
    } else {
      let isShort = false;
      if (bits.bit(kIsRepeat0 + state) === 0) isShort = bits.bit(kIsShort + kPositions * state + position) === 0;
      else if (bits.bit(kIsRepeat1 + state) === 0) [first, second] = [second, first];
      else if (bits.bit(kIsRepeat2 + state) === 0) [first, second, third] = [third, first, second];
      else [first, second, third, fourth] = [fourth, first, second, third];
      if (!isShort) length = bits.length(kRepeatLengths, position);
      state = isShort ? (state < 7 ? 9 : 11) : state < 7 ? 8 : 11;
    }
    if (first >= at) throw new Error("the packed engine is damaged");
    for (const end = Math.min(at + length, size); at < end; at += 1) out[at] = out[at - first - 1];
  }
  return out;
}
