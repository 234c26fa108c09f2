// Count: `h += 1` where the code is in the set. Counts four labels at a time.

fn count(hits: u32, word: u32, code: u32) -> u32 {
    return hits + countOneBits(above(word, code));
}

// The same down to a rank of the row's own; `first` is the rank above the word.
fn count_within(hits: u32, word: u32, first: u32, code: u32, limit: u32) -> u32 {
    if first >= limit {
        return hits;
    }
    let ranks = limit - first;
    return count(hits, select(word, word & ((1u << (8u * (ranks & 3u))) - 1u), ranks < 4u), code);
}
