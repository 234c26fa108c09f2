// Adds up finished values over the rows of each run: a state of each row times a factor of its query.
//
// A value is (state · factor) / 2^shift, rounded down, below 2^64; a sum has 96 bits, so 2^32 rows fit. Integers have the same sum in any
// order: an invocation adds its own rows, and a workgroup those of its invocations that are of one run. The rest is added to the run's sum
// atomically, with its carries.

struct Product {
    slots: u32,
    // Workgroups in a row of the dispatch.
    stride: u32,
    // The first column of words of the state, and the way in which the state is read.
    word: u32,
    state: u32,
    // The start of the factors, 2 words a slot; 0 for the same factor everywhere.
    factors: u32,
    factor_low: u32,
    factor_high: u32,
    shift: u32,
    // The start of the sums of the product, 3 words a run.
    sums: u32,
    // The deepest rank at which a first hit counts.
    deepest: u32,
    unused_a: u32,
    unused_b: u32,
}

@group(0) @binding(0) var<uniform> product: Product;
// [column][slot]
@group(0) @binding(1) var<storage, read> columns: array<u32>;
// The run of each slot, NONE where there is no row.
@group(0) @binding(2) var<storage, read> runs: array<u32>;
@group(0) @binding(3) var<storage, read> factors: array<u32>;
@group(0) @binding(4) var<storage, read_write> sums: array<atomic<u32>>;

const NONE = 0xffffffffu;
const THREADS = 256u;
const ROWS = 16u;

// The ways in which a state is read.
const COUNT = 0u;
const SUM = 1u;
const FIRST_RANK = 2u;

var<workgroup> shared_sums: array<vec3<u32>, 256>;
var<workgroup> shared_runs: array<u32, 256>;

fn add96(a: vec3<u32>, b: vec3<u32>) -> vec3<u32> {
    let low = a.x + b.x;
    let carry = u32(low < a.x);
    let middle = a.y + b.y;
    let both = middle + carry;
    return vec3(low, both, a.z + b.z + u32(middle < a.y) + u32(both < middle));
}

// The product of two numbers, divided by 2^shift, 0 to 63 bits, and then below 2^64.
fn shifted(a: vec2<u32>, b: vec2<u32>, shift: u32) -> vec2<u32> {
    let all = product_of(a, b);
    let three = select(all.xyz, all.yzw, shift >= 32u);
    let bits = shift & 31u;
    // The shift is made in two steps, because a shift by all 32 bits is not defined.
    return vec2(
        (three.x >> bits) | ((three.y << 1u) << (31u - bits)),
        (three.y >> bits) | ((three.z << 1u) << (31u - bits)),
    );
}

fn value_at(slot: u32) -> vec2<u32> {
    let low = columns[product.word * product.slots + slot];
    var factor = vec2(product.factor_low, product.factor_high);
    var state = vec2(low, 0u);
    if product.state == FIRST_RANK {
        // The factors are 1 / rank here.
        if low == 0u || low > product.deepest {
            return vec2(0u);
        }
        state = vec2(1u, 0u);
        factor = vec2(factors[product.factors + 2u * (low - 1u)], factors[product.factors + 2u * low - 1u]);
    } else {
        if product.state == SUM {
            state.y = columns[(product.word + 1u) * product.slots + slot];
        }
        if product.factors != 0u {
            factor = vec2(factors[product.factors + 2u * slot], factors[product.factors + 2u * slot + 1u]);
        }
    }
    return shifted(state, factor, product.shift);
}

// No lock and no 96-bit atomic is needed. Each word is added by itself, and an addition that wraps is seen by exactly one invocation, the
// one whose own addition it was: from the old value it knows, and it alone hands the carry on. In between the three words belong to no
// moment, but at the end of the dispatch every wrap has been carried once, so they are the sum.
fn add_to_run(run: u32, sum: vec3<u32>) {
    let at = product.sums + 3u * run;
    let low = atomicAdd(&sums[at], sum.x);
    let carry = u32(low + sum.x < low);
    let middle = atomicAdd(&sums[at + 1u], sum.y);
    var carries = u32(middle + sum.y < middle);
    if carry != 0u {
        carries += u32(atomicAdd(&sums[at + 1u], 1u) == 0xffffffffu);
    }
    atomicAdd(&sums[at + 2u], sum.z + carries);
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) at: u32) {
    let first = (group.y * product.stride + group.x) * (THREADS * ROWS);
    var run = NONE;
    var sum = vec3(0u);
    for (var row = 0u; row < ROWS; row++) {
        let slot = first + row * THREADS + at;
        if slot >= product.slots {
            break;
        }
        let own = runs[slot];
        if own == NONE {
            continue;
        }
        if own != run {
            if run != NONE {
                add_to_run(run, sum);
            }
            run = own;
            sum = vec3(0u);
        }
        let one = value_at(slot);
        sum = add96(sum, vec3(one, 0u));
    }
    shared_runs[at] = run;
    shared_sums[at] = sum;
    workgroupBarrier();
    // A tree of 8 steps. Rows are packed by depth and not by run, so two halves may be of different runs: then one of them goes to its run
    // at once.
    for (var half = THREADS / 2u; half > 0u; half /= 2u) {
        if at < half {
            let other = shared_runs[at + half];
            if shared_runs[at] == NONE {
                shared_runs[at] = other;
                shared_sums[at] = shared_sums[at + half];
            } else if other == shared_runs[at] {
                shared_sums[at] = add96(shared_sums[at], shared_sums[at + half]);
            } else if other != NONE {
                add_to_run(other, shared_sums[at + half]);
            }
        }
        workgroupBarrier();
    }
    if at == 0u && shared_runs[0] != NONE {
        add_to_run(shared_runs[0], shared_sums[0]);
    }
}
