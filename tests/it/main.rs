//! The boundaries of the program, one module each.

mod kubernetes;
