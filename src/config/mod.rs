//! `gpulint.toml` → settings. Knows no rule by name.
