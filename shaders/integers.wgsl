// Integers wider than 32 bits, as words, the lowest first.

fn add(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2(low, a.y + b.y + u32(low < a.x));
}

// The product of two numbers of 32 bits.
fn multiply(a: u32, b: u32) -> vec2<u32> {
    let low = (a & 0xffffu) * (b & 0xffffu);
    let middle = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
    let other = (a & 0xffffu) * (b >> 16u) + (middle & 0xffffu);
    return vec2((other << 16u) | (low & 0xffffu), (a >> 16u) * (b >> 16u) + (middle >> 16u) + (other >> 16u));
}

// Schoolbook with digits of 32 bits: no step overflows, since (2^32 - 1)^2 + 2 (2^32 - 1) is 2^64 - 1.
// The product of two numbers of 64 bits.
fn product_of(a: vec2<u32>, b: vec2<u32>) -> vec4<u32> {
    let low = multiply(a.x, b.x);
    let middle = add(multiply(a.x, b.y), vec2(low.y, 0u));
    let other = add(multiply(a.y, b.x), vec2(middle.x, 0u));
    let high = add(add(multiply(a.y, b.y), vec2(middle.y, 0u)), vec2(other.y, 0u));
    return vec4(low.x, other.x, high);
}
