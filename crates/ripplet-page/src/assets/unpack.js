// Packed parts of a page's data: the size in bytes, a point, and raw DEFLATE (RFC 1951) in base64. Pages unpack
// them when they are first needed, without waiting: DecompressionStream would make every reader asynchronous.

const LENGTHS_FROM = [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258];
const LENGTHS_BITS = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const DISTANCES_FROM = [1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577];
const DISTANCES_BITS = [0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13];
/** Order in which a block has the lengths of the codes of its lengths. */
const CODE_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/** A look-up of Huffman codes by the next bits: symbol · 16 + length. */
function huffman(lengths) {
  const most = Math.max(1, ...lengths);
  const counts = new Array(17).fill(0);
  for (const length of lengths) counts[length] += 1;
  counts[0] = 0;
  const next = [0];
  for (let length = 1; length <= most; length += 1) next[length] = (next[length - 1] + counts[length - 1]) << 1;
  const table = new Uint16Array(1 << most);
  lengths.forEach((length, symbol) => {
    if (length === 0) return;
    let [code, reversed] = [next[length]++, 0];
    for (let bit = 0; bit < length; bit += 1) {
      reversed = (reversed << 1) | (code & 1);
      code >>= 1;
    }
    for (let at = reversed; at < table.length; at += 1 << length) table[at] = (symbol << 4) | length;
  });
  return table;
}

const FIXED = [
  huffman(Array.from({ length: 288 }, (_, symbol) => (symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8))),
  huffman(new Array(30).fill(5)),
];

/** The bytes that raw DEFLATE has, of a known size. */
function inflated(bytes, size) {
  const out = new Uint8Array(size);
  let [at, held, count, end] = [0, 0, 0, 0];
  const fill = (bits) => {
    for (; count < bits; count += 8) held |= bytes[at++] << count;
  };
  const take = (bits) => {
    fill(bits);
    const value = held & ((1 << bits) - 1);
    held >>>= bits;
    count -= bits;
    return value;
  };
  const symbol = (table) => {
    fill(15);
    const entry = table[held & (table.length - 1)];
    held >>>= entry & 15;
    count -= entry & 15;
    return entry >> 4;
  };
  const tables = () => {
    const [literals, distances, codes] = [take(5) + 257, take(5) + 1, take(4) + 4];
    const lengths = new Array(19).fill(0);
    for (let place = 0; place < codes; place += 1) lengths[CODE_ORDER[place]] = take(3);
    const table = huffman(lengths);
    const all = [];
    while (all.length < literals + distances) {
      const length = symbol(table);
      if (length < 16) all.push(length);
      else {
        const [value, times] = length === 16 ? [all.at(-1), 3 + take(2)] : [0, length === 17 ? 3 + take(3) : 11 + take(7)];
        for (let time = 0; time < times; time += 1) all.push(value);
      }
    }
    return [huffman(all.slice(0, literals)), huffman(all.slice(literals, literals + distances))];
  };
  for (let last = 0; !last; ) {
    last = take(1);
    const kind = take(2);
    if (kind === 0) {
      // Bytes as they are, from the next whole byte on.
      at -= count >> 3;
      held = count = 0;
      const length = bytes[at] | (bytes[at + 1] << 8);
      out.set(bytes.subarray(at + 4, at + 4 + length), end);
      at += 4 + length;
      end += length;
      continue;
    }
    const [literals, distances] = kind === 1 ? FIXED : tables();
    for (let code = symbol(literals); code !== 256; code = symbol(literals)) {
      if (end >= size) throw new Error('a part of the data is damaged');
      if (code < 256) {
        out[end++] = code;
        continue;
      }
      const length = LENGTHS_FROM[code - 257] + take(LENGTHS_BITS[code - 257]);
      const place = symbol(distances);
      const far = DISTANCES_FROM[place] + take(DISTANCES_BITS[place]);
      for (let step = 0; step < length; step += 1, end += 1) out[end] = out[end - far];
    }
  }
  return out;
}

/** The value of a packed part. */
function unpacked(text) {
  const point = text.indexOf('.');
  const binary = atob(text.slice(point + 1));
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at);
  return JSON.parse(new TextDecoder().decode(inflated(bytes, Number(text.slice(0, point)))));
}
