//! Converts `pricing/models.csv` to constants, so that start-up parses nothing.

#[path = "../src/catalog/model.rs"]
mod model;
#[path = "../src/catalog/names.rs"]
mod names;
#[path = "../src/catalog/precision.rs"]
mod precision;

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use model::Model;
use names::ModelName;

/// Writes `MODELS` and `KEYS`. Keys are sorted, each with its matching rows, the most probable first.
pub fn write(table: &Path, to: &Path) -> Result<(), Box<dyn Error>> {
    let text = fs::read_to_string(table)?;
    let mut records = crate::source::csv_records(&text);
    let header = records.next().ok_or("pricing/models.csv is empty")?.1?;
    let places = model::columns(&header)?;
    let mut models = Vec::new();
    let mut keys: BTreeMap<String, Vec<(u8, usize)>> = BTreeMap::new();
    for (line, record) in records {
        let at = |message: String| format!("{}:{line}: {message}", table.display());
        let (model, aliases) = model::read(&places, &record.map_err(at)?).map_err(at)?;
        for (rank, name) in std::iter::once(&*model.id).chain(aliases.iter().map(|alias| &**alias)).enumerate() {
            let name = ModelName::parse(name);
            let rank = u8::from(rank > 0);
            keys.entry(name.exact_key()).or_default().push((rank, models.len()));
            keys.entry(name.base_key()).or_default().push((rank + 2, models.len()));
        }
        models.push(model);
    }
    let mut code = String::from("pub(super) static MODELS: &[Model] = &[\n");
    models.iter().try_for_each(|model| write_model(&mut code, model))?;
    code.push_str("];\npub(super) static KEYS: &[(&str, &[u16])] = &[\n");
    for (key, mut rows) in keys {
        // The simplest variant represents all variants under one base name.
        rows.sort_by_key(|(rank, row)| (*rank, models[*row].id.len(), *row));
        let mut seen = Vec::new();
        rows.retain(|(_, row)| {
            !seen.contains(row) && {
                seen.push(*row);
                true
            }
        });
        writeln!(code, "    ({key:?}, &{seen:?}),")?;
    }
    code.push_str("];\n");
    fs::write(to, code)?;
    Ok(())
}

fn write_model(code: &mut String, model: &Model) -> std::fmt::Result {
    let Model { id, modality, params_b, active_b, layers, hidden, heads, kv_heads, vocab, published, .. } = model;
    let Model { checkpoint_gib, max_context, kv_bytes_per_token, window_bytes_per_token, window, state_mib, .. } =
        model;
    let Model { head_dim, latent, tied, plain, denoiser_b, as_of, source, .. } = model;
    writeln!(
        code,
        "    Model {{ id: Cow::Borrowed({id:?}), modality: Modality::{modality:?}, params_b: {params_b:?}, active_b: {active_b:?}, \
         layers: {layers:?}, hidden: {hidden:?}, heads: {heads:?}, kv_heads: {kv_heads:?}, head_dim: {head_dim:?}, vocab: {vocab:?}, \
         published: Precision::{published:?}, checkpoint_gib: {checkpoint_gib:?}, max_context: {max_context:?}, \
         kv_bytes_per_token: {kv_bytes_per_token:?}, window_bytes_per_token: {window_bytes_per_token:?}, window: {window:?}, \
         state_mib: {state_mib:?}, latent: {latent:?}, tied: {tied:?}, plain: {plain:?}, denoiser_b: {denoiser_b:?}, shapes_assumed: false, \
         as_of: Cow::Borrowed({as_of:?}), source: Cow::Borrowed({source:?}) }},"
    )
}
