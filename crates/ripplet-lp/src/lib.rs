//! Label propagation for ripplet.
