//! The language's tests.

mod smoke;
