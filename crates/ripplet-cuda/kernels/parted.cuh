// Large vertices of whose labels too many found no slot: several large blocks a vertex, each of which
// reads all votes and counts those for its part of the labels, in shared memory. What each finds best
// the last of them compares. Reading again is quicker than one table of all labels far away.
//
// Labels are parted by a hash, and so nearly evenly. A part that does not fit its table all the same
// leaves the vertex to `spread.cuh`.
#pragma once

namespace ripplet {

// Fours of slots that a label looks at.
constexpr u32 PART_PROBES = 256;

// Counts a part of the labels, and judges them; false where the table has no room.
template <class Sum>
RIPPLET_FN bool judge_part(const ScanTeam& team, const Chooser& v, const Place& place, Piece part,
                           const Large& large, Best* best, bool* nan) {
    const u32 bytes = v.run->field.scan_shared - ScanTeam::BYTES;
    const Table<Sum> table = Table<Sum>::in(team.memory + ScanTeam::BYTES, bytes, U32_MAX);
    table.clear(team.rank(), SCAN_BLOCK);
    team.sync();
    bool is_full = false;
    for (u64 first = 0; first < place.degree(); first += SCAN_STEP) {
        Vote votes[SCAN_HELD];
        read_votes<SCAN_BLOCK>(v, place, (u32)first, votes);
        for (u32 index = 0; index < SCAN_HELD; index++) {
            const Vote& vote = votes[index];
            if (vote.weight == 0 || vote.label == v.label) continue;
            if (part_of(mix(vote.label), large.parts) != part.index) continue;
            is_full |= !table.add(vote.label, vote.weight, PART_PROBES);
        }
    }
    if (team.count(is_full) > 0) return false;
    const PartSums<Table<Sum>> sums = {table, part.index == 0 ? large.own : 0, v.label};
    *best = best_of_part(team, v, large.cast, sums, nan);
    return true;
}

RIPPLET_FN void choose_parted(const Run& run, Turn turn, Seen* seen) {
    const Field& field = run.field;
    const u32 count = field.tallies->parts[turn.parity];
    const ScanTeam team = {shared_memory()};
    if (count == 0) return;
    for (u32 item; (item = take(&field.tallies->taken_parts, team.memory)) < count;) {
        const Piece part = field.parts[item];
        Large& large = field.large[part.owner];
        const Chooser v(run, large.vertex, field.labels[large.vertex]);
        const Place place = place_of(field, v.id);
        Best best = {};
        bool nan = false;
        const bool fits = UNIT || large.cast <= U32_MAX
                              ? judge_part<u32>(team, v, place, part, large, &best, &nan)
                              : judge_part<u64>(team, v, place, part, large, &best, &nan);
        u32* is_last = (u32*)team.memory;
        team.sync();
        if (team.rank() == 0) {
            field.found[large.first_piece + part.index] = best;
            if (nan) atomicOr(&large.nan, 1u);
            if (!fits) atomicOr(&large.is_full, 1u);
            // Who comes last sees what all others wrote.
            __threadfence();
            *is_last = atomicAdd(&large.judged, 1u) + 1 == large.parts;
            __threadfence();
        }
        team.sync();
        if (!*is_last) continue;
        if (*(volatile u32*)&large.is_full) {
            if (team.rank() == 0) {
                large.open = COUNTED;
                large.nan = 0;
                atomicAdd(&field.tallies->counted[turn.parity], 1u);
            }
            continue;
        }
        Ended end = {verdict_on(v, large, large.parts), large.cast, 0};
        if (CARRIES)
            end.carried = team.largest(carried_by(v, place, end.verdict.best, team.rank(),
                                                  place.degree(), SCAN_BLOCK));
        if (team.rank() == 0) {
            large.open = 0;
            large.done = end_turn(run, turn, v, place.degree(), end, seen);
        }
    }
}

}  // namespace ripplet
