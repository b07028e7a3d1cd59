//! The command ripplet.
