//! Defines the settings for bills.

use super::row;
use crate::catalog::Currency;

/// The settings that matching needs.
#[derive(Debug, Clone, PartialEq)]
pub struct PaidOptions {
    /// The bill files, as paths of the tree.
    pub files: Vec<String>,
    /// Providers whose billed machines are all defined in this repository.
    pub complete: Vec<String>,
    /// The currency besides dollars whose rate is known.
    pub currency: Currency,
}

impl Default for PaidOptions {
    fn default() -> Self {
        PaidOptions { files: vec![row::FILE_NAME.to_owned()], complete: Vec::new(), currency: Currency::USD }
    }
}
