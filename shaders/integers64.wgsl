// The functions of integers.wgsl with 64-bit integers, for devices that have them: the same words, with fewer instructions.

fn wide(a: vec2<u32>) -> u64 {
    return (u64(a.y) << 32u) | u64(a.x);
}

fn words(a: u64) -> vec2<u32> {
    return vec2(u32(a & 0xfffffffflu), u32(a >> 32u));
}

fn add(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return words(wide(a) + wide(b));
}

// The product of two numbers of 32 bits.
fn multiply(a: u32, b: u32) -> vec2<u32> {
    return words(u64(a) * u64(b));
}

// The product of two numbers of 64 bits.
fn product_of(a: vec2<u32>, b: vec2<u32>) -> vec4<u32> {
    let low = u64(a.x) * u64(b.x);
    let middle = u64(a.x) * u64(b.y) + (low >> 32u);
    let other = u64(a.y) * u64(b.x) + (middle & 0xfffffffflu);
    let high = u64(a.y) * u64(b.y) + (middle >> 32u) + (other >> 32u);
    return vec4(u32(low & 0xfffffffflu), u32(other & 0xfffffffflu), words(high));
}
