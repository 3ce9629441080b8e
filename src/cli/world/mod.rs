//! Everything outside of the program: disk, git, terminal, network, clock.

pub(super) mod abandoned;
pub(super) mod cache;
pub(super) mod ci;
pub(super) mod clock;
pub(super) mod deadline;
pub(super) mod failure;
pub(super) mod file_tree;
pub(super) mod git;
pub(super) mod git_changes;
pub(super) mod git_files;
pub(super) mod git_index;
pub(super) mod git_log;
pub(super) mod git_objects;
pub(super) mod git_program;
pub(super) mod largest;
pub(super) mod network;
pub(super) mod outcome;
pub(super) mod output;
pub(super) mod place;
pub(super) mod programs;
pub(super) mod progress;
pub(super) mod reference;
pub(super) mod replace;
pub(super) mod secrets;
pub(super) mod started;
pub(super) mod terminal;
