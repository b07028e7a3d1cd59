// Entry points of the kernels: teams that take items until there are none, and the final sums.
//
//     kernel                    team     neighbour lists    state of the search
//     ripplet_swarm_by_warp     warp     shared memory      shared memory
//     ripplet_swarm_by_block    block    shared memory      shared memory
//     ripplet_swarm_reading     block    global memory      shared memory
//     ripplet_swarm_in_memory   block    global memory      global memory
#pragma once

namespace ripplet {

// Copies the lists behind into shared memory; orders the vertices by degree if the team does that.
template <class Team>
RIPPLET_FN Held hold_behind(const Team& team, const Read& lists, u32 n, Room& room) {
    const u32* const offsets = hold_offsets(team, lists, n, room);
    u32* const weights = room_for_weights(lists, n, room);
    u32* const bins = room.take<u32>(Team::ORDERS ? 2 * BINS : 0);
    Held behind = hold_ids(team, lists, offsets, weights, n, room);
    if (Team::ORDERS) behind.order = order_by_degree(team, offsets, n, bins, room);
    return behind;
}

// Answers an item with lists that are held in shared memory, behind the team's state.
template <class Team>
RIPPLET_FN void answer_holding(const State& state, const Team& team, const Item& item, Room room) {
    const Member graph = member(state, item.graph);
    const u32 n = graph.vertices;
    const Read in_memory = read(state.behind, graph);
    if constexpr (COUNTS_PATHS) {
        Rows<u16> rows(room, n);
        const Read more = read(TWO_SIDED ? state.ahead : state.behind, graph);
        const u32* const of_behind = hold_offsets(team, in_memory, n, room);
        const u32* const of_ahead = TWO_SIDED ? hold_offsets(team, more, n, room) : of_behind;
        u32* const weights = room_for_weights(in_memory, n, room);
        u32* const more_weights = TWO_SIDED ? room_for_weights(more, n, room) : weights;
        u32* const bins = room.take<u32>(Team::ORDERS ? 2 * BINS : 0);
        rows.take_steps(room);
        Held behind = hold_ids(team, in_memory, of_behind, weights, n, room);
        Held ahead = TWO_SIDED ? hold_ids(team, more, of_ahead, more_weights, n, room) : behind;
        if (Team::ORDERS) behind.order = order_by_degree(team, of_behind, n, bins, room);
        if (Team::ORDERS && TWO_SIDED) ahead.order = order_by_degree(team, of_ahead, n, bins, room);
        if (Team::ORDERS && !TWO_SIDED) ahead.order = behind.order;
        rows.marks = Marks::of(room, n);
        lead(state, team, graph, item, behind, ahead, rows);
    } else if constexpr (WEIGHS) {
        const Lengths lengths = Lengths::of(room, n);
        const Tally<u64> tally(room, n);
        const Held behind = hold_behind(team, in_memory, n, room);
        const Marks marks = Marks::of(room, n);
        add_weights<u16>(state, team, graph, item, behind, lengths, marks, tally);
    } else {
        const Masks masks(room, n);
        const Tally<u32> tally(room, n);
        const Held behind = hold_behind(team, in_memory, n, room);
        count_arcs(state, team, graph, item, behind, masks, tally);
    }
}

// Answers an item with lists in global memory. `Sum` and `Distance` are wide enough for the graph's distances
// by numbers of arcs.
template <class Sum, class Distance, class Team>
RIPPLET_FN void answer_reading(const State& state, const Team& team, const Item& item, Room room) {
    const Member graph = member(state, item.graph);
    const u32 n = graph.vertices;
    const Read behind = read(state.behind, graph);
    if constexpr (COUNTS_PATHS) {
        Rows<Distance> rows(room, n);
        rows.take_steps(room);
        rows.marks = Marks::of(room, n);
        lead(state, team, graph, item, behind, TWO_SIDED ? read(state.ahead, graph) : behind, rows);
    } else if constexpr (WEIGHS) {
        const Lengths lengths = Lengths::of(room, n);
        const Tally<u64> tally(room, n);
        add_weights<Distance>(state, team, graph, item, behind, lengths, Marks::of(room, n), tally);
    } else {
        const Masks masks(room, n);
        count_arcs(state, team, graph, item, behind, masks, Tally<Sum>(room, n));
    }
}

template <class Team, class Answer> RIPPLET_FN void take_items(const Work& work, const Team& team, Answer answer) {
    for (;;) {
        const u32 number = team.next(work.state.taken + work.number);
        if (number >= work.end - work.first) return;
        answer(work.state.items[work.first + number]);
    }
}

// Threads of a block that holds the lists of one graph. The `Rows` of a large graph leave no room for a
// second block on a multiprocessor.
constexpr u32 LARGEST_BLOCK = UNIT == EIGHT ? 1024 : 768;

}  // namespace ripplet

using ripplet::Work;

// Several graphs per block, a warp each.
RIPPLET_KERNEL(ripplet_swarm_by_warp, Work, work, 128, 12) {
    using namespace ripplet;
    const Room room = {shared_memory() + threadIdx.x / 32 * work.bytes};
    const WarpTeam team = {};
    take_items(work, team, [&](const Item& item) { answer_holding(work.state, team, item, room); });
}

RIPPLET_KERNEL(ripplet_swarm_by_block, Work, work, ripplet::LARGEST_BLOCK, 1536 / ripplet::LARGEST_BLOCK) {
    using namespace ripplet;
    const Room room = {shared_memory() + WORD_BYTES};
    const BlockTeam team = {(u32*)shared_memory()};
    take_items(work, team, [&](const Item& item) { answer_holding(work.state, team, item, room); });
}

// For lists that are too long for shared memory.
RIPPLET_KERNEL(ripplet_swarm_reading, Work, work, 1024, 1) {
    using namespace ripplet;
    const Room room = {shared_memory() + WORD_BYTES};
    const BlockTeam team = {(u32*)shared_memory()};
    take_items(work, team, [&](const Item& item) { answer_reading<u32, u16>(work.state, team, item, room); });
}

// For state that is too large for shared memory.
RIPPLET_KERNEL(ripplet_swarm_in_memory, Work, work, 1024, 1) {
    using namespace ripplet;
    const Room room = {work.state.scratch + blockIdx.x * work.state.stride};
    const BlockTeam team = {(u32*)shared_memory()};
    take_items(work, team, [&](const Item& item) { answer_reading<u64, u32>(work.state, team, item, room); });
}

RIPPLET_KERNEL(ripplet_swarm_add_up, Work, work, 256, 4) {
    ripplet::add_up(work.state, work.state.pieces[work.first + blockIdx.x]);
}
