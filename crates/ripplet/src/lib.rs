//! Communities in graphs by label propagation.
