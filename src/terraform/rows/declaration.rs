//! Names the block that declares a resource.

use std::sync::Arc;

use crate::inventory::{Declaration, Fact};
use crate::terraform::address::{base, parts, without_key};
use crate::terraform::block::EvaluatedBlock;

/// Returns the name of the block, and the references by which blocks of its module and of the root module name it.
pub(super) fn block_declaration(block: &EvaluatedBlock) -> Declaration {
    let call = match parts(&block.address)[..] {
        ["module", call, ..] => Some(format!("module.{}", without_key(call))),
        _ => None,
    };
    Declaration {
        address: block.address.as_str().into(),
        block: base(&block.address).into(),
        name: block.labels.last().map(String::as_str).unwrap_or_default().into(),
        namespace: Fact::Absent,
        part: Arc::default(),
        references: block.reference().into_iter().chain(call).map(Arc::from).collect(),
    }
}
