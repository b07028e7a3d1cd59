// Lookups that hooks make beyond their views: degrees, totals, columns, draws. Comes before `views.cuh`. Mapping:
// called by the thread that has the vertex; no shared memory.
//
//     columns.all[slot].values    | v0 | v0 | v1 | v1 | v2 | v2 | ...     a column of length 2
//     columns.drafts              | draft of v0  | draft of v1  | ...     `DRAFT_LENGTH` values: those of all
//                                                                         written columns, one behind the other
//
// `column` reads the committed value. `staged` reads the draft, which `stage` writes and `commit.cuh` commits.
#pragma once

namespace ripplet {

struct Access {
    const LpState* state;
    // Whether `total` returns the largest of all totals, a bound, instead of the label's own.
    bool at_most;

    RIPPLET_FN u32 degree(u32 v) const { return degree_of(*state, v); }
    RIPPLET_FN u32 round() const { return state->round.index; }
    RIPPLET_FN u32 random(u32 v, u32 stream) const {
        return mix(v ^ stream_key(state->round.seed, state->round.index, PROGRAM_STREAM + stream));
    }
    RIPPLET_FN u32 total(u32 label) const {
        if (TOTAL == TOTAL_NONE) return 0;
        if (at_most) return state->tallies->most_total;
        return label < state->graph.vertices ? state->totals.by_label[label] : 0;
    }
    RIPPLET_FN u32 column(u32 slot, u32 v, u32 index) const {
        if (slot >= COLUMNS || index >= state->columns.all[slot].length) return 0;
        return state->columns.all[slot].values[(u64)v * state->columns.all[slot].length + index];
    }
    RIPPLET_FN u32 staged(u32 slot, u32 v, u32 index) const {
        const u32* place = draft(slot, v, index);
        return place ? *place : column(slot, v, index);
    }
    RIPPLET_FN void stage(u32 slot, u32 v, u32 index, u32 bits) {
        u32* place = draft(slot, v, index);
        if (place) *place = bits;
    }

  private:
    RIPPLET_FN u32* draft(u32 slot, u32 v, u32 index) const {
        if (slot >= COLUMNS || index >= state->columns.all[slot].length) return nullptr;
        const u32 first = state->columns.all[slot].draft;
        if (first == U32_MAX) return nullptr;
        return state->columns.drafts + ((u64)v * DRAFT_LENGTH + first + index);
    }
};

// The address of value `index` of a vertex's written columns, numbered as in its draft.
RIPPLET_FN u32* written(const LpState& state, u32 v, u32 index) {
    for (u32 slot = 0; slot < COLUMNS; slot++) {
        const Column& column = state.columns.all[slot];
        if (column.draft != U32_MAX && index - column.draft < column.length)
            return column.values + ((u64)v * column.length + (index - column.draft));
    }
    return nullptr;
}

}  // namespace ripplet
