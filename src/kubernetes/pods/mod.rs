//! Reads pods: their owners and number, their requests, their nodes, and the resulting resource.

pub(super) mod chart_objects;
pub(super) mod claims;
pub(super) mod containers;
pub(super) mod generic;
pub(super) mod machines;
mod model_repository;
pub(super) mod named_files;
pub(super) mod nodes;
pub(super) mod pod;
pub(super) mod queues;
pub(super) mod raw;
pub(super) mod request;
pub(super) mod resource;
mod start;
pub(super) mod storage;
mod together;
pub(super) mod unsupported;
pub(super) mod waits;
pub(super) mod workload;
