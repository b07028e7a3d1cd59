//! Disjoint parts of slices.

/// Cuts a slice into pieces of these lengths, which add up to its own.
pub(crate) fn pieces<'a, T>(mut rest: &'a mut [T], lengths: &[usize]) -> Vec<&'a mut [T]> {
    let mut cut = Vec::with_capacity(lengths.len());
    for &length in lengths {
        let (piece, others) = rest.split_at_mut(length);
        cut.push(piece);
        rest = others;
    }
    cut
}
