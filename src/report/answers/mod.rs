//! Writes reports of subcommands other than `check`, each in its formats.

pub(super) mod explain;
pub(super) mod explain_lost_work;
pub(super) mod explain_own;
pub(super) mod explain_run;
pub(super) mod explain_speed;
pub(super) mod fit;
pub(super) mod limits;
pub(super) mod notes;
pub(super) mod on_lines;
pub(super) mod paid;
pub(super) mod plan;
pub(super) mod plan_bill;
pub(super) mod plan_text;
pub(super) mod plan_wire;
pub(super) mod plan_words;
pub(super) mod price;
pub(super) mod promise;
pub(super) mod purchase_options;
pub(super) mod reconcile;
pub(super) mod server_code;
pub(super) mod suppressions;
pub(super) mod tokens;
pub(super) mod usage;
pub(super) mod vocabulary;
pub(super) mod what_if;
