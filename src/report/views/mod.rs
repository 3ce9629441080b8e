//! What is said, whatever the format: amounts, notes, scorecards, who is alike, what fits in a comment.

pub(super) mod apart;
pub(super) mod basis;
pub(super) mod budgets;
pub(super) mod comment_limits;
pub(super) mod cost_line;
pub(super) mod coverage;
pub(super) mod cuts;
pub(super) mod entries;
pub(super) mod first;
pub(super) mod head;
pub(super) mod history;
pub(super) mod judged;
pub(super) mod markup;
pub(super) mod measured;
pub(super) mod money;
pub(super) mod own_hardware;
pub(super) mod page_link;
pub(super) mod paths;
pub(super) mod price_age;
pub(super) mod repeats;
pub(super) mod scorecard;
pub(super) mod sentence;
pub(super) mod suggestion;
pub(super) mod teams;
pub(super) mod training_run;
pub(super) mod unit_work;
