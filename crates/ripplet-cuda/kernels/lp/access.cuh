// Lookups that hooks make beyond their views: degrees, totals, columns, draws. Comes before `views.cuh`.
#pragma once

namespace ripplet {

struct Access {
    const Field* field;
    // Whether `total` returns the largest of all totals, a bound, instead of the label's own.
    bool at_most;

    RIPPLET_FN u32 degree(u32 v) const { return degree_of(*field, v); }
    RIPPLET_FN u32 round() const { return field->round; }
    RIPPLET_FN u32 random(u32 v, u32 stream) const {
        return mix(v ^ stream_key(field->seed, field->round, PROGRAM_STREAM + stream));
    }
    RIPPLET_FN u32 total(u32 label) const {
        if (TOTAL == TOTAL_NONE) return 0;
        if (at_most) return field->tallies->most_total;
        return label < field->vertices ? field->totals[label] : 0;
    }
    RIPPLET_FN u32 column(u32 slot, u32 v, u32 index) const {
        if (slot >= COLUMNS || index >= field->columns[slot].length) return 0;
        return field->columns[slot].values[(u64)v * field->columns[slot].length + index];
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
        if (slot >= COLUMNS || index >= field->columns[slot].length) return nullptr;
        const u32 first = field->columns[slot].draft;
        if (first == U32_MAX) return nullptr;
        return field->drafts + ((u64)v * DRAFT_LENGTH + first + index);
    }
};

// The address of value `index` of a vertex's written columns, numbered as in its draft.
RIPPLET_FN u32* written(const Field& field, u32 v, u32 index) {
    for (u32 slot = 0; slot < COLUMNS; slot++) {
        const Column& column = field.columns[slot];
        if (column.draft != U32_MAX && index - column.draft < column.length)
            return column.values + ((u64)v * column.length + (index - column.draft));
    }
    return nullptr;
}

}  // namespace ripplet
