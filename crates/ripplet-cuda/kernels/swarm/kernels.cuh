// Entry points of the kernels: teams that take items until there are none, and the final sums.
//
//     kernel                        team     neighbour lists    state of the search
//     ripplet_swarm_by_warp         warp     shared memory      shared memory
//     ripplet_swarm_by_block        block    shared memory      shared memory
//     ripplet_swarm_global_lists    block    global memory      shared memory
//     ripplet_swarm_global_state    block    global memory      global memory
//     ripplet_swarm_add_up          a block per 1024 values of a split graph
//
// Shared memory of a block team: 16 bytes for the item's index, then arrays by descending alignment:
//
//     8 bytes   state of the search: masks, or lengths, path counts and dependencies
//     4 bytes   offsets, weights, bins of degrees, counters
//     2 bytes   steps, ids, order of the vertices
//     1 byte    marks
//
// Four warp teams of a block have an equal part each, without the index.
#pragma once

namespace ripplet {

// Copies the lists behind into shared memory; orders the vertices by degree if the team does that.
template <class Team>
RIPPLET_FN SharedLists copy_behind(const Team& team, const GlobalLists& lists, u32 n, Arena& arena) {
    const u32* const offsets = copy_offsets(team, lists, n, arena);
    u32* const weights = allocate_weights(lists, n, arena);
    u32* const bins = arena.take<u32>(Team::ORDERS ? 2 * BINS : 0);
    SharedLists behind = copy_ids(team, lists, offsets, weights, n, arena);
    if (Team::ORDERS) behind.order = order_by_degree(team, offsets, n, bins, arena);
    return behind;
}

// Processes an item with lists in shared memory, behind the team's state.
template <class Team>
RIPPLET_FN void process_with_shared_lists(const State& state, const Team& team, const Item& item, Arena arena) {
    const Member graph = member(state, item.graph);
    const u32 n = graph.vertices;
    const GlobalLists in_memory = read(state.behind, graph);
    if constexpr (COUNTS_PATHS) {
        Rows<u16> rows(arena, n);
        const GlobalLists more = read(TWO_SIDED ? state.ahead : state.behind, graph);
        const u32* const of_behind = copy_offsets(team, in_memory, n, arena);
        const u32* const of_ahead = TWO_SIDED ? copy_offsets(team, more, n, arena) : of_behind;
        u32* const weights = allocate_weights(in_memory, n, arena);
        u32* const more_weights = TWO_SIDED ? allocate_weights(more, n, arena) : weights;
        u32* const bins = arena.take<u32>(Team::ORDERS ? 2 * BINS : 0);
        rows.take_steps(arena);
        SharedLists behind = copy_ids(team, in_memory, of_behind, weights, n, arena);
        SharedLists ahead = TWO_SIDED ? copy_ids(team, more, of_ahead, more_weights, n, arena) : behind;
        if (Team::ORDERS) behind.order = order_by_degree(team, of_behind, n, bins, arena);
        if (Team::ORDERS && TWO_SIDED) ahead.order = order_by_degree(team, of_ahead, n, bins, arena);
        if (Team::ORDERS && !TWO_SIDED) ahead.order = behind.order;
        rows.marks = Marks::of(arena, n);
        betweenness(state, team, graph, item, behind, ahead, rows);
    } else if constexpr (WEIGHS) {
        const Lengths lengths = Lengths::of(arena, n);
        const Tally<u64> tally(arena, n);
        const SharedLists behind = copy_behind(team, in_memory, n, arena);
        const Marks marks = Marks::of(arena, n);
        add_weights<u16>(state, team, graph, item, behind, lengths, marks, tally);
    } else {
        const Masks masks(arena, n);
        const Tally<u32> tally(arena, n);
        const SharedLists behind = copy_behind(team, in_memory, n, arena);
        count_arcs(state, team, graph, item, behind, masks, tally);
    }
}

// Processes an item with lists in global memory. `Sum` and `Distance` are wide enough for the graph's distances
// by numbers of arcs.
template <class Sum, class Distance, class Team>
RIPPLET_FN void process_with_global_lists(const State& state, const Team& team, const Item& item, Arena arena) {
    const Member graph = member(state, item.graph);
    const u32 n = graph.vertices;
    const GlobalLists behind = read(state.behind, graph);
    if constexpr (COUNTS_PATHS) {
        Rows<Distance> rows(arena, n);
        rows.take_steps(arena);
        rows.marks = Marks::of(arena, n);
        betweenness(state, team, graph, item, behind, TWO_SIDED ? read(state.ahead, graph) : behind, rows);
    } else if constexpr (WEIGHS) {
        const Lengths lengths = Lengths::of(arena, n);
        const Tally<u64> tally(arena, n);
        add_weights<Distance>(state, team, graph, item, behind, lengths, Marks::of(arena, n), tally);
    } else {
        const Masks masks(arena, n);
        count_arcs(state, team, graph, item, behind, masks, Tally<Sum>(arena, n));
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
// second block on a multiprocessor. 1024 threads have 64 registers each, two blocks of 768 threads 40.
constexpr u32 LARGEST_BLOCK = UNIT == EIGHT ? 1024 : 768;

}  // namespace ripplet

using ripplet::Work;

// Several graphs per block, a warp each.
RIPPLET_KERNEL(ripplet_swarm_by_warp, Work, work, 128, 12) {
    using namespace ripplet;
    const Arena arena = {shared_memory() + threadIdx.x / 32 * work.bytes};
    const WarpTeam team = {};
    take_items(work, team, [&](const Item& item) { process_with_shared_lists(work.state, team, item, arena); });
}

RIPPLET_KERNEL(ripplet_swarm_by_block, Work, work, ripplet::LARGEST_BLOCK, 1536 / ripplet::LARGEST_BLOCK) {
    using namespace ripplet;
    const Arena arena = {shared_memory() + WORD_BYTES};
    const BlockTeam team = {(u32*)shared_memory()};
    take_items(work, team, [&](const Item& item) { process_with_shared_lists(work.state, team, item, arena); });
}

// For lists that are too long for shared memory.
RIPPLET_KERNEL(ripplet_swarm_global_lists, Work, work, 1024, 1) {
    using namespace ripplet;
    const Arena arena = {shared_memory() + WORD_BYTES};
    const BlockTeam team = {(u32*)shared_memory()};
    take_items(work, team,
               [&](const Item& item) { process_with_global_lists<u32, u16>(work.state, team, item, arena); });
}

// For state that is too large for shared memory.
RIPPLET_KERNEL(ripplet_swarm_global_state, Work, work, 1024, 1) {
    using namespace ripplet;
    const Arena arena = {work.state.scratch + blockIdx.x * work.state.stride};
    const BlockTeam team = {(u32*)shared_memory()};
    take_items(work, team,
               [&](const Item& item) { process_with_global_lists<u64, u32>(work.state, team, item, arena); });
}

RIPPLET_KERNEL(ripplet_swarm_add_up, Work, work, 256, 4) {
    ripplet::add_up(work.state, work.state.pieces[work.first + blockIdx.x]);
}
