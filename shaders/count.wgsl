// Count: `h += 1` where the code is in the set. Counts four labels at a time.

fn count(hits: u32, word: u32, code: u32) -> u32 {
    return hits + countOneBits(above(word, code));
}

// Count down to a rank of the row's own; `first` is the rank above the word.
fn count_within(hits: u32, word: u32, first: u32, code: u32, limit: u32) -> u32 {
    if first >= limit {
        return hits;
    }
    return count(hits, first_of(word, limit - first), code);
}
