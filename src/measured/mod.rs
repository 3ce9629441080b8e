//! What a meter said: rows of `gpulint-usage.csv`, and which resource each is about.

pub mod row;
