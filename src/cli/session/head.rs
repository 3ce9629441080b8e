//! The order of a comparison: the state after the change is analyzed first, and the state before it reuses its results.

use super::Session;
use super::remembered::StagedFiles;
use crate::Analysis;

/// The state after a change, with its analysis. Results can be reused or cached only through this type, so nothing can
/// use them before they exist.
pub(in crate::cli) struct AnalyzedHead<'s> {
    session: &'s Session,
    pub(in crate::cli) analysis: Analysis,
}

impl Session {
    /// Analyzes the state after a change, and offers its results to the state before it.
    pub(in crate::cli) fn analyze_head(&self) -> AnalyzedHead<'_> {
        let mut analysis = self.analyze_all();
        analysis.hand_over_blocks(&self.cache.terraform);
        AnalyzedHead { session: self, analysis }
    }
}

impl AnalyzedHead<'_> {
    /// Analyzes the state before the change, and reuses what this state read from identical files.
    pub(in crate::cli) fn analyze_base(&self, base: &Session) -> Analysis {
        let later = &self.session.sources;
        if base.sources.share(later, base.policy.files_of_settings, |path| base.same.contains(path)) {
            base.cache.terraform.allow();
        }
        base.analyze_all()
    }

    /// Writes new results of this state to the cache of the index.
    pub(in crate::cli) fn remember(&self, staged: &StagedFiles) {
        staged.keep(self.session);
    }
}
