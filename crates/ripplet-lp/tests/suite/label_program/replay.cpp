// Answers recorded calls of hooks; see translated.rs for the lines.
#include <cstdio>
#include <vector>

namespace ripplet {

struct Access {
    std::vector<u32> lens;
    u32 v, u, v_degree, u_degree, now, drawn, label_total;
    std::vector<u32> v_values, u_values;

    u32 degree(u32 id) const { return id == v ? v_degree : u_degree; }
    u32 round() const { return now; }
    // What was recorded is the neighbour's draw of the stream that is named as the vertex.
    u32 random(u32 id, u32 stream) const { return id == u && stream == v ? drawn : 0xdeadu; }
    u32 total(u32) const { return label_total; }
    size_t place(u32 slot, u32 index) const {
        size_t before = 0;
        for (u32 s = 0; s < slot; s++) before += lens[s];
        return before + index;
    }
    u32 column(u32 slot, u32 id, u32 index) const {
        if (index >= lens[slot]) return 0;
        return (id == v ? v_values : u_values)[place(slot, index)];
    }
    u32 staged(u32 slot, u32 id, u32 index) const { return column(slot, id, index); }
    void stage(u32 slot, u32, u32 index, u32 bits) {
        if (index < lens[slot]) v_values[place(slot, index)] = bits;
    }
};

}  // namespace ripplet
