#include <cstdio>
#include <vector>

namespace ripplet {

constexpr u32 MEMORY = 3;

// The tables, with the numbers of views_hooks.rs.
struct Access {
    struct Staged {
        u32 slot, index, bits;
    };
    std::vector<Staged> changes;

    static u32 len(u32 slot) { return slot == 1 ? MEMORY : 1; }
    u32 degree(u32 v) const { return v * 3 + 1; }
    u32 round() const { return 5; }
    u32 random(u32 v, u32 stream) const { return ((v * 31 + stream) * 0x9e3779b1u) >> 7; }
    u32 total(u32 label) const { return label * 11 + 5; }
    u32 column(u32 slot, u32 v, u32 index) const {
        if (index >= len(slot)) return 0;
        return slot == 0 ? to_bits(mul((f32)v, 0.125f)) : slot == 1 ? (v + index) % 3 : v * 7;
    }
    u32 staged(u32 slot, u32 v, u32 index) const {
        for (size_t i = changes.size(); i-- > 0;)
            if (changes[i].slot == slot && changes[i].index == index) return changes[i].bits;
        return column(slot, v, index);
    }
    void stage(u32 slot, u32, u32 index, u32 bits) {
        if (index < len(slot)) changes.push_back({slot, index, bits});
    }
};

}  // namespace ripplet
