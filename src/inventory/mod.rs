//! The neutral model: resources made of facts, and the links between them.
//!
//! Front ends fill the model, and all later steps read it. It contains no Terraform type, no Kubernetes kind and no
//! price.
//! A fact has its place and its origin. An unknown fact has a cause.

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
pub use adjust::FactOverrides;
pub use fact::{Fact, KnownFact, FactOrigin, UnknownFact};
pub use key::{Key, FactValue, ValueType};
pub use lease::lease;
pub use purpose::{PurposeEvidence, Says, production, purpose_of_task, infer_purpose};
pub use raw::{RawData as RawData, MOST_VALUES, Raw, RawContainer, RawPod, RawTree};
pub use resource::{
    CountedIn, Declaration, MachineDisk, DiskSpeed, UnsupportedFile, ReadBy, Home, Inventory, CostLabels, LeftAlone, PoolLimit, Limited,
    Link, LinkKind, MeterName, Orphaned, Range, Refused, RepeatedBlock, Resource, ResourceId, BillingRole, NodeSelector, SkippedFile,
    Taint, WantedObjects, WantedRaw,
};
pub use run::{CountedAs, GivenRun, DeploymentRun, RunId, RunKind, order_and_merge_runs};
pub use shift::{ScheduledSize, ScheduleEntry, Until};
pub use sign::{SupportingComponent, may_have_sign, signs};
pub use terms::{Purchase, Purpose, Task};
pub use unjudged::{Unjudged, UnjudgedStatus};
pub use unlisted::{FieldMeaning, UnsupportedResource, UnlistedField, is_open_map, is_type_of_accelerators};
pub use wish::{Declined, Part, FactEdit};
