// FirstRank: the first rank where the code is in the set; 0 before.

fn first_rank(first: u32, rank: u32) -> u32 {
    return select(first, rank, first == 0u);
}
