//! Defines the neutral model: resources made of facts, and the links between them.
//!
//! Front ends fill the model, and all later steps read it. It contains no Terraform type, no Kubernetes kind and no
//! price. Each fact has its place and its origin. An unknown fact has a cause.

pub mod accelerators;
mod adjust;
mod fact;
mod fact_edit;
mod key;
mod lease;
pub mod programs;
mod purpose;
mod raw;
mod resource;
pub mod row_path;
mod run;
mod schedule_entry;
pub(crate) mod snake_case;
mod started_script;
mod supporting_component;
mod terms;
mod unjudged;
mod unsupported;

pub use crate::languages::table::claim::claim;
pub use crate::languages::table::{Language, Reader};
pub use adjust::FactOverrides;
pub use fact::{Fact, FactOrigin, KnownFact, UnknownFact};
pub use fact_edit::{Declined, FactEdit, Part};
pub use key::{FactValue, Key, ValueType};
pub use lease::lease;
pub use purpose::{PurposeEvidence, Says, environment_in, infer_purpose, production, purpose_of_task};
pub use raw::{MOST_VALUES, Raw, RawContainer, RawData, RawPod, RawTree};
pub use resource::{
    BillingRole, CostLabels, CountedIn, Declaration, DiskSpeed, Home, Inventory, LeftAlone, Limited, Link, LinkKind,
    MachineDisk, MeterName, NodeSelector, Orphaned, PoolLimit, Range, ReadBy, Refused, RepeatedBlock, Resource,
    ResourceId, SkippedFile, Taint, UnsupportedFile, Volume, WantedObjects, WantedRaw,
};
pub use run::{CountedAs, DeploymentRun, GivenRun, RunId, RunKind, order_and_merge_runs};
pub use schedule_entry::{ScheduleEntry, ScheduledSize, Until};
pub use started_script::{StartedScript, StoppableMachine};
pub use supporting_component::{SupportingComponent, may_have_sign, signs};
pub use terms::{Purchase, Purpose, Task};
pub use unjudged::{Unjudged, UnjudgedStatus};
pub use unsupported::{FieldMeaning, UnlistedField, UnsupportedResource, is_open_map, is_type_of_accelerators};
