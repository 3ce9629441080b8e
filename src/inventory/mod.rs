//! Defines the neutral model: resources made of facts, and the links between them.
//!
//! Front ends fill the model, and all later steps read it. It contains no Terraform type, no Kubernetes kind and no
//! price. Each fact has its place and its origin. An unknown fact has a cause.

pub mod accelerators;
mod adjust;
mod fact;
mod key;
mod lease;
pub mod programs;
mod purpose;
mod raw;
mod resource;
pub mod row_path;
mod run;
mod shift;
mod sign;
pub(crate) mod snake_case;
mod terms;
mod unjudged;
mod unlisted;
mod wish;

pub use crate::languages::table::claim::claim;
pub use crate::languages::table::{Language, Reader};
pub use adjust::Adjust;
pub use fact::{Fact, Known, Origin, Unknown};
pub use key::{Key, Value, ValueType};
pub use lease::lease;
pub use purpose::{Evidence, Says, production, purpose_of_task, settle_purpose};
pub use raw::{Data as RawData, MOST_VALUES, Raw, RawContainer, RawPod, RawTree};
pub use resource::{
    CountedIn, Declaration, Disk, DiskSpeed, Foreign, FrontEnd, Home, Inventory, Labels, LeftAlone, Limit, Limited,
    Link, LinkKind, MeterName, Orphaned, Range, Refused, RepeatedBlock, Resource, ResourceId, Role, Selector, Skipped,
    Taint, WantedObjects, WantedRaw,
};
pub use run::{Counted, GivenRun, Run, RunId, RunKind, settle};
pub use shift::{Change, Shift, Until};
pub use sign::{Sign, may_have_sign, signs};
pub use terms::{Purchase, Purpose, Task};
pub use unjudged::{Unjudged, UnjudgedStatus};
pub use unlisted::{FieldMeaning, Unlisted, UnlistedField, is_open_map, is_type_of_accelerators};
pub use wish::{Declined, Part, Wish};
