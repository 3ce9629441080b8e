//! Front end for cloud templates in files that contain no manifest.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::inventory::{self, Declined, FactEdit, FactValue, Resource, UnsupportedFile};
use crate::languages::table::Reader;
use crate::source::{Edit, is_below, join, parent};
use crate::templates::{self, TemplateOptions, TemplateReader};

use super::front_end::{FrontEnd, FrontEndInput, Reading, Writers, is_made_by};

pub(super) struct CloudTemplates {
    reader: Reader,
    read: TemplateReader,
}

pub(super) static CLOUDFORMATION: CloudTemplates =
    CloudTemplates { reader: Reader::CloudFormation, read: templates::CLOUDFORMATION };
pub(super) static AZURE: CloudTemplates = CloudTemplates { reader: Reader::Azure, read: templates::AZURE };
pub(super) static PULUMI: CloudTemplates = CloudTemplates { reader: Reader::Pulumi, read: templates::PULUMI };

impl FrontEnd for CloudTemplates {
    fn read(&self, input: &FrontEndInput<'_>, out: &mut Reading) {
        let claimed = out.inventory.foreign.iter().filter(|it| it.language.reader == self.reader);
        let claimed: Vec<String> = claimed.map(|it| it.path.clone()).collect();
        if claimed.is_empty() {
            return;
        }
        let options = TemplateOptions { adjust: input.settings.scenario.clone() };
        let read = (self.read)(input.sources, &claimed, input.paths, &options);
        out.inventory.foreign.retain(|it| !is_read(it, &read.taken));
        out.inventory.join(read.inventory);
        out.comments.extend(read.comments);
        out.blocks.extend(read.blocks);
    }

    fn reads(&self, resource: &Resource) -> bool {
        // The same code edits templates of all languages.
        is_made_by(resource, &[inventory::ReadBy::Template])
    }

    fn write(&self, writers: &Writers<'_>, resource: &Resource, wish: &FactEdit) -> Result<Vec<Edit>, Declined> {
        templates::write(resource, wish, writers.sources, &writers.templates, &writers.terraform)
    }

    fn label(
        &self,
        writers: &Writers<'_>,
        resource: &Resource,
        labels: &[(Arc<str>, FactValue)],
    ) -> Result<Vec<Edit>, Declined> {
        templates::label(resource, labels, writers.sources, &writers.templates, &writers.terraform)
    }
}

/// Returns true for a template that was read, or a program whose generated templates were read.
fn is_read(it: &UnsupportedFile, taken: &BTreeSet<String>) -> bool {
    let folder = it.language.writes_into.and_then(|inside| join(parent(&it.path), inside));
    let wrote = |folder: &str| taken.iter().any(|taken| folder.is_empty() || is_below(taken, folder));
    taken.contains(&it.path) || folder.is_some_and(|folder| wrote(&folder))
}
