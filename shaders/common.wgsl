// What all folds share: the bindings, labels as words, and their fixed-point numbers.
//
// A workgroup is a tile and an invocation is a lane of it: a row, down which it steps alone. A word holds the labels of four
// consecutive ranks, the first in its lowest byte. Code 0 is past the end and counts for nothing, so a word is cut off by zeros.
//
// No float is added here: sums are fixed-point integers, because an implementation may reorder floats and does.

// A batch of tiles.
struct Batch {
    tiles: u32,
    // Workgroups in a row of the dispatch.
    stride: u32,
    // The deepest rank that counts.
    depth: u32,
    // The length of a column: the rows of all tiles, 64 a tile.
    slots: u32,
    // The number of cutoffs.
    cuts: u32,
    // The number of ranks above the block of tables of this dispatch, and the last rank of the block.
    above: u32,
    end: u32,
    // The first word of the labels in their buffer.
    origin: u32,
}

struct Tile {
    // The first word, from the batch's first.
    word: u32,
    depth: u32,
    lanes: u32,
    rows: u32,
}

@group(0) @binding(0) var<uniform> batch: Batch;
@group(0) @binding(1) var<storage, read> tiles: array<Tile>;
@group(0) @binding(2) var<storage, read> labels: array<u32>;
// The tables in which folds look values up.
@group(0) @binding(3) var<storage, read> tables: array<u32>;
// The cutoffs, ascending; then, for each cutoff and task, the column that takes the task's state there, or NONE.
@group(0) @binding(4) var<storage, read> cutoffs: array<u32>;
// Numbers of each row's query, [input][slot].
@group(0) @binding(5) var<storage, read> inputs: array<u32>;
// [column][slot]
@group(0) @binding(6) var<storage, read_write> columns: array<u32>;

const NONE = 0xffffffffu;

fn put(column: u32, slot: u32, word: u32) {
    columns[column * batch.slots + slot] = word;
}

fn input(at: u32, slot: u32) -> u32 {
    return inputs[at * batch.slots + slot];
}

// The words of the ranks from `first` (from 0, a multiple of 4) of one lane, without those at `end` and below.
fn word_at(tile: Tile, lane: u32, first: u32, end: u32) -> u32 {
    if first >= end {
        return 0u;
    }
    let word = labels[batch.origin + tile.word + first / 4u * tile.lanes + lane];
    return first_of(word, end - first);
}

// The word with the labels of its first `ranks` ranks alone, 1 or more.
fn first_of(word: u32, ranks: u32) -> u32 {
    return select(word, word & ((1u << (8u * (ranks & 3u))) - 1u), ranks < 4u);
}

// The word without its first labels, those of `ranks` ranks: 0 to 3.
fn without_first(word: u32, ranks: u32) -> u32 {
    return word & (NONE << (8u * ranks));
}

// Four comparisons in one word: (byte & 127) + (127 - (code & 127)) carries into the byte's own highest bit if its low seven bits are
// greater than those of the code, and never beyond it, as both are at most 127. Then the highest bits decide: with a code up to 127 a byte
// with its highest bit is greater anyway (or), with a larger code it must have it too (and).
// The highest bit of each byte that is greater than `code`.
fn above(word: u32, code: u32) -> u32 {
    let low = (word & 0x7f7f7f7fu) + (127u - (code & 127u)) * 0x01010101u;
    return select(low | word, low & word, code > 127u) & 0x80808080u;
}

// In 32-bit steps: a times each 16-bit half of b.x stays below 2^32. The part of a * b.x beyond 32 bits is what `carried` has.
// The product of a number of 16 bits and one of 64, where that is below 2^64.
fn scaled(a: u32, b: vec2<u32>) -> vec2<u32> {
    let carried = (a * (b.x >> 16u) + ((a * (b.x & 0xffffu)) >> 16u)) >> 16u;
    return vec2(a * b.x, a * b.y + carried);
}

// The product of two numbers up to 2^63 that stand for 0 to 1, rounded down.
fn share(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let all = product_of(a, b);
    return vec2((all.z << 1u) | (all.y >> 31u), (all.w << 1u) | (all.z >> 31u));
}

// The number divided by 2^bits, `bits` being 1 to 31, rounded to the nearest.
fn rounded(a: vec2<u32>, bits: u32) -> vec2<u32> {
    let half = add(a, vec2(1u << (bits - 1u), 0u));
    return vec2((half.x >> bits) | (half.y << (32u - bits)), half.y >> bits);
}

fn table64(at: u32) -> vec2<u32> {
    return vec2(tables[at], tables[at + 1u]);
}

fn put64(column: u32, slot: u32, number: vec2<u32>) {
    put(column, slot, number.x);
    put(column + 1u, slot, number.y);
}

fn taken(column: u32, slot: u32) -> u32 {
    return columns[column * batch.slots + slot];
}

fn taken64(column: u32, slot: u32) -> vec2<u32> {
    return vec2(taken(column, slot), taken(column + 1u, slot));
}
