// The judged-only view: each judged label moves to its lane's next free rank, and zeros follow. The tiles stay where they are.

@group(0) @binding(7) var<storage, read_write> moved: array<u32>;

// The greatest code that is not judged.
const UNJUDGED = 2u;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let at = group.y * batch.stride + group.x;
    if at >= batch.tiles {
        return;
    }
    let tile = tiles[at];
    if lane >= tile.lanes {
        return;
    }
    let end = min(tile.depth, batch.depth);
    var free = 0u;
    var gathered = 0u;
    for (var first = 0u; first < end; first += 4u) {
        let word = word_at(tile, lane, first, end);
        let judged = above(word, UNJUDGED);
        if judged == 0u {
            continue;
        }
        for (var shift = 0u; shift < 32u; shift += 8u) {
            if ((judged >> shift) & 0x80u) == 0u {
                continue;
            }
            gathered |= ((word >> shift) & 255u) << (8u * (free & 3u));
            free++;
            if (free & 3u) == 0u {
                moved[tile.word + (free / 4u - 1u) * tile.lanes + lane] = gathered;
                gathered = 0u;
            }
        }
    }
    // The word that is not full, and zeros behind it, down to the end of the tile: what an earlier batch left there must go.
    for (var next = free / 4u; next < tile.depth / 4u; next++) {
        moved[tile.word + next * tile.lanes + lane] = gathered;
        gathered = 0u;
    }
}
