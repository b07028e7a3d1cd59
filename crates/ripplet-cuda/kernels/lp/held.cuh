// Degrees that a warp does not sort, up to 4096: a block a vertex. Each thread holds up to 16 votes in
// registers, and a table in shared memory, with room for all labels, counts them.
#pragma once

namespace ripplet {

typedef Block<BLOCK> Team;

// Votes of a thread, and shared memory of a block of tables.
constexpr u32 HELD = PIECE / BLOCK, SHARED = 57344;

// Reads a thread's votes, of those from number `first` on that a block of so many threads reads
// together: up to `COUNT` each.
template <u32 THREADS, u32 COUNT>
RIPPLET_FN void read_votes(const Chooser& v, const Place& place, u32 first, Vote (&votes)[COUNT]) {
    const u32 degree = place.degree();
    Arc arcs[COUNT];
#pragma unroll
    for (u32 index = 0; index < COUNT; index++) {
        const u32 at = first + index * THREADS + threadIdx.x;
        arcs[index] = at < degree ? arc_at(v.run->field, place, at) : Arc{U32_MAX, 0};
    }
#pragma unroll
    for (u32 index = 0; index < COUNT; index++) {
        votes[index] = arcs[index].id != U32_MAX ? v.vote(arcs[index]) : Vote{NO_LABEL, 0};
        if (UNIT) votes[index].weight = votes[index].label != NO_LABEL;
    }
}

// Votes for the vertex's own label, and all votes.
struct Cast {
    u64 own, all;

    template <u32 COUNT> RIPPLET_FN void add(const Chooser& v, const Vote (&votes)[COUNT]) {
#pragma unroll
        for (u32 index = 0; index < COUNT; index++) {
            all += votes[index].weight;
            if (votes[index].label == v.label) own += votes[index].weight;
        }
    }
    // Of all threads of a block.
    template <class Team> RIPPLET_FN void sum_up(const Team& team) {
        const Cast of_warp = {Warp{}.sum(own), Warp{}.sum(all)};
        const Cast here = team.across(of_warp, Cast{0, 0});
        own = Warp{}.sum(here.own);
        all = Warp{}.sum(here.all);
    }
};

// What is carried to the vertex by those of a thread's arcs, from number `first` on, that vote for
// the winner.
RIPPLET_FN u32 carried_by(const Chooser& v, const Place& place, const Best& best, u32 first, u32 end,
                          u32 step) {
    u32 carried = 0;
    if (!best.found) return 0;
    for (u32 at = first; at < end; at += step) {
        const Arc arc = arc_at(v.run->field, place, at);
        const Vote vote = v.vote(arc);
        if (vote.weight > 0 && vote.label == best.label) carried = max(carried, v.carry(arc));
    }
    return carried;
}

template <class Sum> struct HeldSums {
    Team team;
    const Vote (&votes)[HELD];
    Table<Sum> table;

    RIPPLET_FN Leader lead(const Chooser& v) {
        table.clear(team.rank(), BLOCK);
        team.sync();
        for (u32 index = 0; index < HELD; index++)
            if (votes[index].weight > 0) table.add(votes[index].label, votes[index].weight, U32_MAX);
        team.sync();
        const Sum top = team.largest(table.top(team.rank(), BLOCK));
        return leader_of(team, table.lead(v, team.rank(), BLOCK, top));
    }
    RIPPLET_FN void keep() const {}
    template <class F> RIPPLET_FN void each(F visit) const {
        table.each(team.rank(), BLOCK, visit);
    }
};

template <class Sum>
RIPPLET_FN Verdict judge_held(const Team& team, const Chooser& v, u32 degree, const Cast& cast,
                              const Vote (&votes)[HELD]) {
    unsigned char* memory = team.memory + Team::BYTES;
    HeldSums<Sum> sums = {team, votes, Table<Sum>::in(memory, SHARED - Team::BYTES, 2 * degree)};
    return judge(team, v, true, cast.own, cast.all, sums);
}

RIPPLET_FN void choose_held(const Run& run, Turn turn, u32 of_class, Seen* seen) {
    const Field& field = run.field;
    const u32 count = field.tallies->members[turn.parity][of_class];
    const Team team = {shared_memory()};
    if (count == 0) return;
    for (u32 item; (item = take(&field.tallies->taken[of_class], team.memory)) < count;) {
        const u32 id = Members(field, of_class)[item];
        const Place place = place_of(field, id);
        const u32 degree = place.degree();
        const Chooser v(run, id, field.labels[id]);
        Vote votes[HELD];
        read_votes<BLOCK>(v, place, 0, votes);
        Cast cast = {0, 0};
        cast.add(v, votes);
        cast.sum_up(team);
        Ended end = {};
        end.cast = cast.all;
        end.verdict = UNIT || cast.all <= U32_MAX ? judge_held<u32>(team, v, degree, cast, votes)
                                                  : judge_held<u64>(team, v, degree, cast, votes);
        if (CARRIES)
            end.carried = team.largest(
                carried_by(v, place, end.verdict.best, team.rank(), degree, BLOCK));
        if (team.rank() == 0) end_turn_of(run, turn, of_class, item, degree, v, end, seen);
        team.sync();
    }
}

}  // namespace ripplet
