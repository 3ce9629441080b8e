//! What settings say of bills.

use super::row;
use crate::catalog::Currency;

/// What is told beside the rows.
#[derive(Debug, Clone, PartialEq)]
pub struct PaidOptions {
    /// The files, as paths of the tree.
    pub files: Vec<String>,
    /// Providers of which everything that is paid for stands in this repository.
    pub complete: Vec<String>,
    /// The one beside dollars whose rate is known.
    pub currency: Currency,
}

impl Default for PaidOptions {
    fn default() -> Self {
        PaidOptions { files: vec![row::FILE_NAME.to_owned()], complete: Vec::new(), currency: Currency::USD }
    }
}
