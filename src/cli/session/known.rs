//! The names that custom rules can use: those that gpulint knows, and those that the settings add.

use crate::catalog::Catalog;
use crate::config::{Config, setting};
use crate::rules::KnownNames;
use crate::{kubernetes, terraform};

/// Returns the names that are valid under these settings.
pub(in crate::cli) fn names(config: &Config, catalog: &Catalog) -> KnownNames {
    let hardware = config.tables(setting!("hardware"));
    let own = hardware.filter_map(|table| table.text(setting!("hardware[].accelerator")).map(str::to_owned));
    let declared = config.below(setting!("labels.declare"));
    KnownNames {
        // A wildcard adds no name.
        accelerators: own.filter(|pattern| pattern != "*").collect(),
        declared: declared.filter_map(|(_, entry)| Some(entry.value.text()?.to_owned())).collect(),
        ..all(catalog.clone())
    }
}

/// Returns the names that are always valid.
pub fn all(catalog: Catalog) -> KnownNames {
    KnownNames {
        catalog,
        types: terraform::types().collect(),
        kinds: kubernetes::kinds(),
        providers: terraform::providers().map(str::to_owned).collect(),
        attributes: Some(terraform::words),
        metadata: kubernetes::METADATA,
        fields: kubernetes::FIELDS,
        ..KnownNames::default()
    }
}
