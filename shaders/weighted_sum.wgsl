// WeightedSum: `s += gain[c] · discount(i)`.
//
// The table holds the terms as signed integers in the units of the sum, `[rank][code from the first with a gain]`, so that any
// gain and any discount is a look-up. A wide sum has a third word, for gains that differ by many orders of magnitude.

// Two's complement needs no sign here: words of a negative term are added as they are, and the sum is read with its sign on the host.
fn weighted_sum(sum: vec2<u32>, at: u32) -> vec2<u32> {
    return add(sum, table64(at));
}

fn weighted_sum_wide(sum: vec3<u32>, at: u32) -> vec3<u32> {
    let low = add(sum.xy, table64(at));
    let carry = u32(low.y < sum.y || (low.y == sum.y && low.x < sum.x));
    return vec3(low, sum.z + tables[at + 2u] + carry);
}
