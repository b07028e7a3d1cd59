using namespace ripplet;
using namespace ripplet::program;

static u64 bits(f32 x) { return to_bits(x); }
template <class T> static u64 bits(T x) { return (u64)x; }

template <class T> static T of_bits(u64 x) { return (T)x; }
template <> f32 of_bits(u64 x) { return from_bits((u32)x); }

static u64 next() {
    u64 number = 0;
    if (scanf("%llu", &number) != 1) number = 0xbad;
    return number;
}

static void values(const Access& access, std::vector<u32>& into) {
    into.clear();
    for (u32 len : access.lens)
        for (u32 i = 0; i < len; i++) into.push_back((u32)next());
}

static void vertex(Access& access) {
    access.v = (u32)next();
    access.v_degree = (u32)next();
    access.now = (u32)next();
    values(access, access.v_values);
}

int main() {
    Access access = {};
    Parameters mine = {};
    const u64 words = next();
    for (u64 i = 0; i < words; i++) mine.words[i] = next();
    const u64 columns = next();
    for (u64 i = 0; i < columns; i++) access.lens.push_back((u32)next());
    for (char kind; scanf(" %c", &kind) == 1;) {
        vertex(access);
        const u32 label = (u32)next();
        const Vertex v = {&access, access.v, label};
        if (kind == 'L') {
            access.u = (u32)next();
            access.u_degree = (u32)next();
            access.drawn = (u32)next();
            values(access, access.u_values);
            const u32 shown = (u32)next(), weight = (u32)next();
            const Neighbor u = {&access, access.u, shown, weight};
            const Vote vote = load_neighbor(mine, v, u);
            printf("L %u %u %llu\n", vote.label, vote.weight, bits(carry(mine, v, u)));
        } else if (kind == 'S') {
            const u32 candidate = (u32)next();
            const u64 frequency = next(), cast = next(), grand_total = next();
            access.label_total = (u32)next();
            const Candidate c = {&access, candidate, frequency, cast, grand_total};
            printf("S %u %llu %llu\n", pick_label(mine, v), bits(label_score(mine, v, c)),
                   bits(score_bound(mine, frequency)));
        } else {
            const u32 winner = (u32)next();
            const Score score = of_bits<Score>(next());
            const f32 carried = from_bits((u32)next());
            const u64 frequency = next(), cast = next();
            VertexMut changed = {&access, access.v, label, carried, frequency, cast};
            printf("U %u", update_vertex(mine, changed, winner, score));
            for (u32 value : access.v_values) printf(" %u", value);
            printf("\n");
        }
    }
}
