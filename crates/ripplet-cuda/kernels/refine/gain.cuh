// Gains, as `ripplet_lp::refine` defines them: exact integers of 64 or 128 bits.
//
//     gain(label) = attraction * weight - repulsion * (mass * total - imbalance * imbalance of the label)
//
// The last product exists if the kernels are compiled for a directed null model (`DIRECTED`). The factors make it
// modularity with a resolution (Reichardt and Bornholdt, 2006), that of directed graphs (Leicht and Newman, 2008), or
// the constant Potts model (Traag, Van Dooren and Nesterov, 2011); `score.rs` of `ripplet_lp::refine` derives them.
//
// Mapping: called by any thread; no shared memory.
#pragma once

namespace ripplet {

// A gain of 64 bits, where the host knows that they are enough.
struct Gain64 {
    i64 value;

    RIPPLET_FN bool operator<(Gain64 other) const { return value < other.value; }
    RIPPLET_FN bool operator==(Gain64 other) const { return value == other.value; }
    RIPPLET_FN bool is_negative() const { return value < 0; }
};

struct Gain128 {
    u64 low;
    i64 high;

    RIPPLET_FN bool operator<(Gain128 other) const {
        return high < other.high || (high == other.high && low < other.low);
    }
    RIPPLET_FN bool operator==(Gain128 other) const { return high == other.high && low == other.low; }
    RIPPLET_FN bool is_negative() const { return high < 0; }
};

// Modulo 2^128.
RIPPLET_FN Factor times(Factor a, u64 b) {
    return Factor{a.low * b, (i64)(__umul64hi(a.low, b) + (u64)a.high * b)};
}

RIPPLET_FN Factor times_signed(Factor a, i64 b) {
    Factor product = times(a, (u64)b);
    // As an unsigned number, b is 2^64 more if it is negative.
    if (b < 0) product.high = (i64)((u64)product.high - a.low);
    return product;
}
RIPPLET_FN Factor plus(Factor a, Factor b) {
    const u64 low = a.low + b.low;
    return Factor{low, (i64)((u64)a.high + (u64)b.high + (low < b.low))};
}

// The gains of one vertex.
template <class T> struct GainsOf;

template <> struct GainsOf<Gain64> {
    // Repulsion times the vertex's mass, and times its imbalance.
    i64 attraction, repulsion, imbalance;

    RIPPLET_FN GainsOf(const Work& work, Mass mass)
        : attraction((i64)work.attraction.low),
          repulsion((i64)(work.repulsion.low * mass.sum)),
          imbalance(DIRECTED ? (i64)(work.repulsion.low * mass.imbalance) : 0) {}
    RIPPLET_FN Gain64 gain(u64 weight, Mass total) const {
        u64 gain = (u64)attraction * weight - (u64)repulsion * total.sum;
        if (DIRECTED) gain += (u64)imbalance * total.imbalance;
        return Gain64{(i64)gain};
    }
};

template <> struct GainsOf<Gain128> {
    Factor attraction, repulsion, imbalance;

    RIPPLET_FN GainsOf(const Work& work, Mass mass)
        : attraction(work.attraction), repulsion(times(work.repulsion, mass.sum)), imbalance() {
        if (DIRECTED) imbalance = times_signed(work.repulsion, (i64)mass.imbalance);
    }
    RIPPLET_FN Gain128 gain(u64 weight, Mass total) const {
        Factor drawn = times(attraction, weight);
        const Factor pushed = times(repulsion, total.sum);
        if (DIRECTED) drawn = plus(drawn, times_signed(imbalance, (i64)total.imbalance));
        const u64 borrow = drawn.low < pushed.low;
        return Gain128{drawn.low - pushed.low, (i64)((u64)drawn.high - (u64)pushed.high - borrow)};
    }
};

RIPPLET_FN Gain64 from_lane(Gain64 gain, u32 step) {
    return Gain64{(i64)__shfl_xor_sync(ALL_LANES, (u64)gain.value, (int)step)};
}
RIPPLET_FN Gain128 from_lane(Gain128 gain, u32 step) {
    return Gain128{(u64)__shfl_xor_sync(ALL_LANES, gain.low, (int)step),
                   (i64)__shfl_xor_sync(ALL_LANES, (u64)gain.high, (int)step)};
}

// The label of the largest gain so far. Among equal gains the label of the smallest hash wins; no two labels
// have the same.
template <class T> struct Best {
    T gain;
    u32 label, hash;
    u32 exists;

    RIPPLET_FN Best() : gain(), label(0), hash(0), exists(0) {}
    RIPPLET_FN Best(T gain, u32 label, u32 hash) : gain(gain), label(label), hash(hash), exists(1) {}
    RIPPLET_FN void take(const Best& other) {
        if (!other.exists) return;
        if (!exists || gain < other.gain || (gain == other.gain && other.hash < hash)) *this = other;
    }
    // The best of each group of `lanes` lanes, in all of its lanes; all lanes of a warp call it.
    RIPPLET_FN void reduce(u32 lanes) {
        for (u32 step = lanes / 2; step > 0; step /= 2) {
            Best other;
            other.gain = from_lane(gain, step);
            other.label = __shfl_xor_sync(ALL_LANES, label, (int)step);
            other.hash = __shfl_xor_sync(ALL_LANES, hash, (int)step);
            other.exists = __shfl_xor_sync(ALL_LANES, exists, (int)step);
            take(other);
        }
    }
};

}  // namespace ripplet
