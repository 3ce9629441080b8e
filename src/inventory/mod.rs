//! The neutral model: resources made of facts, and the links between them.
//!
//! Front ends fill it, everything after them reads it. It knows no Terraform type, no Kubernetes kind, no price.
//! A fact says where it stands and how it is known; what is not known stays unknown, with its cause.

mod fact;
mod key;
mod language;
mod link;
pub mod programs;
mod purpose;
mod raw;
mod resource;
mod run;
mod shift;
mod surroundings;
mod together;
mod unjudged;
mod wish;

pub use fact::{Fact, Known, Origin, Unknown};
pub use key::{Key, Type, Value};
pub use language::{Language, is_script, language_of_data, language_of_script};
pub use link::{infer_purposes, link_pools};
pub use purpose::{Evidence, Says, production, purpose};
pub use raw::{Data as RawData, MOST_VALUES, Raw, Tree};
pub use resource::{
    CountedIn, Disk, DiskSpeed, Foreign, FrontEnd, Inventory, Labels, Link, LinkKind, Purchase, Purpose, Range,
    Refused, Resource, ResourceId, Role, Selector, Skipped, Taint, WantedObjects, WantedRaw,
};
pub use run::{Counted, GivenRun, Run, RunId, RunKind, settle};
pub use shift::{Change, Shift, Until};
pub use surroundings::{Sign, look_round, may_have_sign};
pub use together::{Home, settle_homes};
pub use unjudged::{ONLY_CHANGES, Standing, Unjudged};
pub use wish::{Declined, Part, Wish};
