using namespace ripplet;
using namespace ripplet::program;

int main() {
    for (int strict = 0; strict < 2; strict++) {
        const Parameters mine = {{to_bits(0.25f), MEMORY, (u64)-9ll, (u64)strict}};
        for (u32 v = 0; v < 24; v++) {
            Access access;
            const Vertex vertex = {&access, v, v * 5};
            printf("pick %u\n", pick_label(mine, vertex));
            printf("bound %x\n", to_bits(score_bound(mine, (u64)v << v)));
            for (u32 u = 0; u < 24; u++) {
                const Neighbor neighbor = {&access, u, u + 2, u * v};
                const Vote vote = load_neighbor(mine, vertex, neighbor);
                printf("vote %u %u\n", vote.label, vote.weight);
                printf("carry %x\n", to_bits(carry(mine, vertex, neighbor)));
                const u64 frequency = (u64)u * 1000 + 1, cast = (u64)v * 100000 + 1;
                const u32 label = u * 5;
                const Candidate c = {&access, label, frequency, cast, 1ull << (u + 10)};
                const f32 score = label_score(mine, vertex, c);
                printf("score %x\n", to_bits(score));
                const f32 carried = sub(mul((f32)u, 1.5f), (f32)v);
                Access own;
                VertexMut changed = {&own, v, v * 5, carried, frequency, cast};
                printf("update %u\n", update_vertex(mine, changed, label, score));
                const u32 places[6][2] = {{0, 0}, {1, 0}, {1, 1}, {1, 2}, {1, 3}, {2, 0}};
                for (auto& p : places)
                    printf("staged %u %u %x\n", p[0], p[1], own.staged(p[0], v, p[1]));
            }
        }
    }
}
