//! A cache of searches for machines on which a resource can run.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::purchase::PurchaseVariant;
use crate::resolve::CapacityRequest;

/// The machines on which a resource can run, the expected one first.
pub(super) type FoundMachines<'a> = Result<Arc<[PurchaseVariant<'a>]>, String>;

/// The key of a search: all values on which the result depends.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct MachineQuestion {
    pub(super) accelerators: Accelerators,
    /// Why the price is an estimate.
    pub(super) why: String,
    /// The provider and region of each candidate. If it is empty, any cloud is possible.
    pub(super) places: Vec<TrialLocation>,
    pub(super) rents: bool,
    /// The seller's cloud, if it has several: machine names begin with it.
    pub(super) cloud: Option<String>,
    pub(super) request: CapacityRequest,
}

#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) enum Accelerators {
    Named(Vec<String>),
    /// The common accelerators of a vendor, limited to those that can train and those with this processor.
    Common {
        vendor: String,
        trains: bool,
        processor: Option<String>,
    },
}

#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct TrialLocation {
    pub(super) provider: String,
    pub(super) region: String,
    /// The explanation of the region, for the calculation steps.
    pub(super) said: Option<String>,
}

/// The results of earlier searches, because the pods of one repository have similar requests.
#[derive(Debug, Default)]
pub(super) struct Searches<'a> {
    known: Mutex<HashMap<MachineQuestion, FoundMachines<'a>>>,
}

/// The maximum number of stored searches, so that a repository with many different requests cannot fill the memory.
const REMEMBERED: usize = 256;

impl<'a> Searches<'a> {
    pub(super) fn find(
        &self,
        asked: MachineQuestion,
        search: impl FnOnce(&MachineQuestion) -> Result<Vec<PurchaseVariant<'a>>, String>,
    ) -> FoundMachines<'a> {
        if let Some(found) = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&asked) {
            return found.clone();
        }
        let found = search(&asked).map(Arc::from);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(asked, found.clone());
        found
    }
}
