// The main loop of a kernel: one row steps down its ranks, and its states are stored at every cutoff.
//
// In front of it are the row's type and the functions that depend on which folds share the kernel: `start`, `take` for a word of four
// labels, `store` at a cutoff, and `keep` for the state that the next block of ranks goes on with.

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
    var row: Row;
    row.slot = at * 64u + lane;
    start(&row);
    let deepest = min(min(tile.depth, batch.depth), batch.end);
    var above = batch.above;
    for (var cut = 0u; cut < batch.cuts; cut++) {
        let end = min(cutoffs[cut], deepest);
        if above < end {
            let part = above & 3u;
            var first = above - part;
            while first < end {
                // Four loads are under way before the first word is used.
                var word = word_at(tile, lane, first, end);
                var second = word_at(tile, lane, first + 4u, end);
                var third = word_at(tile, lane, first + 8u, end);
                let fourth = word_at(tile, lane, first + 12u, end);
                // A cutoff inside a word: its first labels were taken before.
                if first < above {
                    word = without_first(word, part);
                }
                for (var at = 0u; at < 4u; at++) {
                    take(&row, word, first);
                    first += 4u;
                    word = second;
                    second = third;
                    third = fourth;
                }
            }
            above = end;
        }
        // The states that the blocks before have stored are kept.
        if cutoffs[cut] > batch.above {
            store(&row, cut);
        }
    }
    keep(&row);
}
