// The label that wins a vertex's votes, found by a team of threads in the same three steps as on the CPU
// (`ripplet_lp::cpu`):
//
//     own votes, all votes
//          |  1. keeps          the own label's votes beat what all others could have together: no counting
//          v
//     sums of all labels        (`Sums::lead`)
//          |  2. wins           the label with most votes beats the bound of every other: one score
//          v
//     every label               (`Sums::each`)
//             3. best_of_all    scores every label
//
// A mapping hands in `Sums`, which counts the votes:
//
//     struct Sums {
//         Leader lead(const Chooser&);             // counts; the same at all threads of the team
//         void keep();                             // prepares `each`
//         template <class F> void each(F) const;   // f(label, sum): each label at one thread, at least
//     };
//
// Mapping: any team of `team.cuh`. Shared memory: that of the team's reductions.
#pragma once

namespace ripplet {

using program::Parameters;
using program::Score;

struct Run {
    LpState state;
    Parameters parameters;
};

// Whether every vote weighs 1. Then votes are counted, and weights are neither stored nor added.
constexpr bool UNIT = program::votes_are_one || (!WEIGHTED && program::votes_are_arcs);

RIPPLET_FN bool is_eligible(u64 score) { return score > 0; }
RIPPLET_FN bool is_eligible(i64) { return true; }
RIPPLET_FN bool is_eligible(f32 score) { return !is_nan(score); }
RIPPLET_FN bool is_nan_score(u64) { return false; }
RIPPLET_FN bool is_nan_score(i64) { return false; }
RIPPLET_FN bool is_nan_score(f32 score) { return is_nan(score); }

RIPPLET_FN u64 score_bits(u64 score) { return score; }
RIPPLET_FN u64 score_bits(i64 score) { return (u64)score; }
RIPPLET_FN u64 score_bits(f32 score) { return to_bits(score); }
template <class T> RIPPLET_FN T score_of_bits(u64 bits);
template <> RIPPLET_FN u64 score_of_bits<u64>(u64 bits) { return bits; }
template <> RIPPLET_FN i64 score_of_bits<i64>(u64 bits) { return (i64)bits; }
template <> RIPPLET_FN f32 score_of_bits<f32>(u64 bits) { return from_bits((u32)bits); }

// A label that may win, with its score, votes and tie rank.
struct Best {
    Score score;
    u64 frequency;
    u32 label, rank;
    bool found;

    RIPPLET_FN Best of_lane(u32 lane) const {
        Best other;
        other.score = score_of_bits<Score>(__shfl_sync(ALL_LANES, score_bits(score), lane));
        other.frequency = __shfl_sync(ALL_LANES, frequency, lane);
        other.label = __shfl_sync(ALL_LANES, label, lane);
        other.rank = __shfl_sync(ALL_LANES, rank, lane);
        other.found = __shfl_sync(ALL_LANES, (u32)found, lane) != 0;
        return other;
    }
};

static_assert(sizeof(Best) <= 32, "a Block has room for as much from each warp");

RIPPLET_FN bool beats(Score score, u32 rank, const Best& best) {
    if (!best.found) return is_eligible(score);
    return score > best.score || (score == best.score && rank < best.rank);
}

RIPPLET_FN bool is_better(const Best& a, const Best& b) {
    return a.found && beats(a.score, a.rank, b);
}

// The vertex that updates.
struct Chooser {
    const Run* run;
    u32 id, label, tie_key;

    RIPPLET_FN Chooser(const Run& run, u32 id, u32 label) : run(&run), id(id), label(label) {
        const u32 key = stream_key(run.state.round.seed, run.state.round.index, TIE_STREAM);
        tie_key = mix(id ^ key);
    }
    RIPPLET_FN u32 rank_of(u32 label) const {
        return SMALLEST_TIES ? label : mix(label ^ tie_key);
    }
    RIPPLET_FN Score score(u32 label, u64 frequency, u64 total_votes, bool at_most) const {
        const Access access = {&run->state, at_most};
        const Vertex v = {&access, id, this->label};
        const Candidate candidate = {&access, label, frequency, total_votes, run->state.totals.grand};
        return program::label_score(run->parameters, v, candidate);
    }
    RIPPLET_FN Score bound(u64 frequency) const {
        return program::score_bound(run->parameters, frequency);
    }
    // The vote that the vertex gets along an arc; weight 0 if the hook returns no label.
    RIPPLET_FN Vote vote(const Arc& arc) const {
        const Access access = {&run->state, false};
        const Vertex v = {&access, id, label};
        const u32 shown =
            program::pick_label(run->parameters, Vertex{&access, arc.id, run->state.labels[arc.id]});
        Vote vote = program::load_neighbor(run->parameters, v,
                                           Neighbor{&access, arc.id, shown, arc.weight});
        if (vote.label == NO_LABEL) vote.weight = 0;
        return vote;
    }
    // The carry along an arc, as an integer in the order of the floating-point values; 0 for none.
    RIPPLET_FN u32 carry(const Arc& arc) const {
        const Access access = {&run->state, false};
        const Vertex v = {&access, id, label};
        const u32 shown =
            program::pick_label(run->parameters, Vertex{&access, arc.id, run->state.labels[arc.id]});
        const f32 carried = program::carry(run->parameters, v,
                                           Neighbor{&access, arc.id, shown, arc.weight});
        const u32 bits = to_bits(carried);
        if (is_nan(carried)) return 0;
        return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    }
};

// The carry that an integer of `Chooser::carry` stands for.
RIPPLET_FN f32 carried_of(u32 order) {
    if (order == 0) return 0.0f;
    return from_bits(order & 0x80000000u ? order & 0x7fffffffu : ~order);
}

// Whether the vertex keeps its label because all other votes together cannot beat it.
RIPPLET_FN bool keeps(const Chooser& v, u64 own, u64 total_votes, Best* best) {
    if (own == 0) return false;
    const Score score = v.score(v.label, own, total_votes, false);
    if (!is_eligible(score) || !(score > v.bound(total_votes - own))) return false;
    *best = Best{score, own, v.label, 0, true};
    return true;
}

// The label with the most votes, and among equal ones that of the lowest rank. `sum` is 0 if there is none.
struct Leader {
    u64 sum;
    u32 label, rank;

    RIPPLET_FN void combine(const Leader& other) {
        if (other.sum > sum || (other.sum == sum && other.rank < rank)) *this = other;
    }
};

// The leader of all threads of a team. Labels of different threads differ, or have equal sums.
template <u32 WIDTH> RIPPLET_FN Leader leader_of(const Lanes<WIDTH>& team, Leader mine) {
    const u64 sum = team.largest(mine.sum);
    const u32 rank = ~team.largest(mine.sum == sum ? ~mine.rank : 0u);
    if constexpr (WIDTH != 1) {
        const u32 holders =
            __ballot_sync(ALL_LANES, mine.sum == sum && mine.rank == rank) & team.lanes();
        mine.label = __shfl_sync(ALL_LANES, mine.label, holders ? __ffs(holders) - 1 : 0);
    }
    return Leader{sum, mine.label, rank};
}
template <u32 THREADS>
RIPPLET_FN Leader leader_of(const Block<THREADS>& team, const Leader& mine) {
    return leader_of(Warp{}, team.across(leader_of(Warp{}, mine), Leader{0, NO_LABEL, U32_MAX}));
}

// Whether the leader wins by its score and the bound of all other labels.
RIPPLET_FN bool wins(const Chooser& v, const Leader& leader, u64 total_votes, Best* best) {
    if (leader.sum == 0) return false;
    const Score ceiling = v.bound(leader.sum), rest = v.bound(leader.sum - 1);
    const auto is_ahead = [&](Score score) {
        return is_eligible(score) && score >= ceiling && score > rest;
    };
    Score score = v.score(leader.label, leader.sum, total_votes, FALLS_WITH_TOTAL);
    if (FALLS_WITH_TOTAL && !is_ahead(score)) score = v.score(leader.label, leader.sum, total_votes, false);
    *best = Best{score, leader.sum, leader.label, leader.rank, true};
    return is_ahead(score);
}

// The best of the labels that this thread has; sets `nan` if a score is not a number.
template <class Sums>
RIPPLET_FN Best best_of_all(const Chooser& v, u64 total_votes, const Sums& sums, bool* nan) {
    Best best = {};
    sums.each([&](u32 label, u64 sum) {
        const u32 rank = v.rank_of(label);
        if (!beats(v.bound(sum), rank, best)) return;
        const Score score = v.score(label, sum, total_votes, false);
        *nan |= is_nan_score(score);
        if (beats(score, rank, best)) best = Best{score, sum, label, rank, true};
    });
    return best;
}

// The outcome of a vertex's votes: the winner, and whether a score was not a number.
struct Verdict {
    Best best;
    bool nan;
};

struct Flag {
    bool is_set;

    RIPPLET_FN Flag of_lane(u32 lane) const {
        return Flag{__shfl_sync(ALL_LANES, (u32)is_set, lane) != 0};
    }
};

// The verdict of the team's first thread, under `async`; otherwise all threads have the same.
template <class Team> RIPPLET_FN Verdict agreed(const Team& team, Verdict verdict) {
    if (IN_PLACE) verdict.best = team.of_first(verdict.best);
    return verdict;
}

// Finds the label that wins. `present` is whether the team has a vertex; `own` and `total_votes` are the votes for
// its own label and all votes.
template <class Team, class Sums>
RIPPLET_FN Verdict judge(const Team& team, const Chooser& v, bool present, u64 own, u64 total_votes,
                         Sums& sums) {
    Verdict verdict = {};
    bool open = present && total_votes > 0;
    if (open && keeps(v, own, total_votes, &verdict.best)) open = false;
    // Under `async`, threads of a team may have read different totals; the first one decides.
    if (IN_PLACE) open = team.of_first(Flag{open}).is_set;
    if (!team.any(open)) return agreed(team, verdict);

    const Leader leader = sums.lead(v);
    if (Best best = {}; open && wins(v, leader, total_votes, &best)) {
        verdict.best = best;
        open = false;
    }
    if (IN_PLACE) open = team.of_first(Flag{open}).is_set;
    if (!team.any(open)) return agreed(team, verdict);

    bool nan = false;
    sums.keep();
    const Best mine = open ? best_of_all(v, total_votes, sums, &nan) : Best{};
    const Best best = team.best(mine, [](const Best& a, const Best& b) { return is_better(a, b); });
    nan = team.count(nan) > 0;
    if (open) verdict = Verdict{best, nan};
    return agreed(team, verdict);
}

}  // namespace ripplet
