//! Writes the requirements of Karpenter pools, which set how machines are bought.

use crate::inventory::Resource;
use crate::kubernetes::pods::workload;
use crate::kubernetes::rows::devices::{DEVICES, LabelMeaning};
use crate::languages::yaml::{AddedPiece, Node, NodeData};
use crate::source::Edit;

use super::declining::{Result, left_alone};
use super::paper::EditedDocument;
use super::pod::labelled_spot;
use super::{Document, set};

const CAPACITY: &str = "karpenter.sh/capacity-type";

/// Returns the edits that set spot; `None` if the kind has no such requirements.
pub(super) fn spot(document: &Document, paper: &EditedDocument<'_>, resource: &Resource) -> Result<Option<Vec<Edit>>> {
    let object = document.object();
    let Some((_, Some(row))) = workload::identify(object) else { return Ok(None) };
    let path = row.machines.iter().find_map(|machines| machines.requirements.first());
    let Some(path) = path.filter(|_| resource.body == document.body) else { return Ok(None) };
    let Some(keys) = path.keys() else { return Ok(None) };
    let requirement = || {
        let texts =
            [("key", CAPACITY), ("operator", "In")].map(|(name, text)| (name.to_owned(), AddedPiece::text(text)));
        let values = ("values".to_owned(), AddedPiece::List(vec![AddedPiece::text("spot")]));
        AddedPiece::Map(texts.into_iter().chain([values]).collect())
    };
    let Some(list) = path.first(object) else {
        return set(document, paper, object, &keys, &AddedPiece::List(vec![requirement()]))
            .map(|edit| Some(vec![edit]));
    };
    let key = |it: &Node| it.text_at("key").cloned().unwrap_or_default();
    let is_about = |it: &&Node| DEVICES.label(&key(it)).is_some_and(|label| label.fact == Some(LabelMeaning::Purchase));
    let about: Vec<&Node> = list.items().iter().filter(is_about).collect();
    match about.as_slice() {
        [] if matches!(list.data, NodeData::List(_)) => {
            document.is_own(list)?;
            paper.append(list, &requirement()).map(|edit| Some(vec![edit]))
        }
        [one] => {
            let values = one.get("values").map(Node::items).unwrap_or_default();
            let [value] = values else { return left_alone("it allows several ways to buy machines") };
            if one.text_at("operator").is_none_or(|operator| &**operator != "In") {
                return left_alone("it only excludes ways to buy machines");
            }
            labelled_spot(document, paper, &key(one), value).map(|edit| Some(vec![edit]))
        }
        _ => left_alone("it allows several ways to buy machines"),
    }
}
