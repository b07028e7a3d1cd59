// The carry of a vertex that was decided (`carry` of the hooks): the largest of those neighbours that vote for the
// winner. Every mapping ends with it if the program carries.
//
//     plain lists                   thread r of a team reads arcs r, r + size, r + 2 size, ...
//     compressed: one thread        reads its list by `Cursor`
//                 lanes of a warp   the warp decodes the list of one team after the other
//                 whole warps       share the list by `each_arc_by_warps`
//
// Mapping: the team that chose for the vertex, or a block per slice in `by_grid.cuh`. Shared memory: none; a warp
// combines its lanes by shuffles, and the caller combines the team.
#pragma once

namespace ripplet {

// The carry from an arc's neighbour, if that votes for `label`.
RIPPLET_FN u32 carried_over(const Chooser& v, const Arc& arc, u32 label) {
    const Vote vote = v.vote(arc);
    return vote.weight > 0 && vote.label == label ? v.carry(arc) : 0;
}

// The carries of the vertices of a warp's teams (`size` lanes each), over all of their arcs. The warp decodes
// one compressed list after the other.
RIPPLET_FN u32 carried_to_teams(const Chooser& v, const Best& best, u32 size) {
    const LpState& state = v.run->state;
    u32 mine = 0;
#pragma unroll 1
    for (u32 leader = 0; leader < 32; leader += size) {
        if (!__shfl_sync(ALL_LANES, (u32)best.found, leader)) continue;
        const u32 id = __shfl_sync(ALL_LANES, v.id, leader), own = __shfl_sync(ALL_LANES, v.label, leader);
        const u32 label = __shfl_sync(ALL_LANES, best.label, leader);
        const Chooser other(*v.run, id, own);
        const Place place = place_of(state, id);
        u32 carried = 0;
        each_arc_by_warps(state, place, 0, place.degree(), 0, 1, [&](u32, const Arc& arc) {
            carried = max(carried, carried_over(other, arc, label));
        });
        carried = warp_max(carried);
        if (lane_id() - leader < size) mine = carried;
    }
    return mine;
}

// The carry of a vertex: the largest of those neighbours, among arcs `first` to `end`, that vote for the
// winner. The `size` threads of a team share the arcs; a team is one lane, some lanes of a warp, or some
// warps.
RIPPLET_FN u32 carried_by(const Chooser& v, const Place& place, const Best& best, u32 first, u32 end, u32 rank,
                          u32 size) {
    const LpState& state = v.run->state;
    u32 carried = 0;
    if (COMPRESSED && size > 1 && size < 32) return carried_to_teams(v, best, size);
    if (!best.found) return 0;
    const auto visit = [&](u32, const Arc& arc) { carried = max(carried, carried_over(v, arc, best.label)); };
    if (COMPRESSED && size >= 32) {
        each_arc_by_warps(state, place, first, end, rank / 32, size / 32, visit);
    } else if (COMPRESSED) {
        Cursor cursor = Cursor::at(state, place, first);
        for (u32 at = first; at < end; at++) visit(at, cursor.next());
    } else {
        for (u32 at = first + rank; at < end; at += size) visit(at, arc_at(state, place, at));
    }
    return carried;
}

}  // namespace ripplet
