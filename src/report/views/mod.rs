//! What is said, whatever the format: amounts, notes, scorecards, who is alike, what fits in a comment.

pub(super) mod apart;
pub(super) mod comment_limits;
pub(super) mod explain;
pub(super) mod fit;
pub(super) mod money;
pub(super) mod notes;
pub(super) mod paths;
pub(super) mod price;
pub(super) mod purchase_options;
pub(super) mod repeats;
pub(super) mod scorecard;
pub(super) mod suggestion;
pub(super) mod suppressions;
pub(super) mod vocabulary;
