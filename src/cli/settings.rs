use std::path::{Path, PathBuf};

use super::args::Input;
use super::place::{self, Place};
use super::{Failure, output, prices};
use crate::catalog::Catalog;
use crate::config::{self, Config};
use crate::report::{self, Style};
use crate::source::Sources;

/// The file of settings for what was named: given by hand, or the nearest one up to the repository's root.
pub(super) fn find(input: &Input, place: &Place) -> Result<Option<String>, Failure> {
    if input.no_config {
        return Ok(None);
    }
    if let Some(file) = &input.config {
        return Ok(Some(place.named_file(file)?));
    }
    let mut found: Vec<(&Path, Option<PathBuf>)> = Vec::new();
    let here = [place.here.clone()];
    let named = if place.named.is_empty() { &here[..] } else { &place.named };
    for path in named {
        let file = nearest(path, place);
        if let Some((other, before)) = found.first()
            && *before != file
        {
            let show = |file: &Option<PathBuf>| match file.as_deref().and_then(|file| place.in_tree(file)) {
                Some(file) => format!("`{}`", place.paths().show(&file)),
                None => "none".to_owned(),
            };
            let shown = |path: &Path| place.in_tree(path).map(|path| place.paths().show(&path)).unwrap_or_default();
            let (a, b) = (shown(other), shown(path));
            let message = format!("two files of settings apply: {} to `{a}`, {} to `{b}`", show(before), show(&file));
            return Err(Failure::new(message).with_help("check them one by one, or name one file with --config"));
        }
        found.push((path, file));
    }
    Ok(found.into_iter().next().and_then(|(_, file)| place.in_tree(&file?)))
}

fn nearest(path: &Path, place: &Place) -> Option<PathBuf> {
    let directory = if path.is_dir() { path } else { path.parent()? };
    let top = place::repository(directory)
        .or_else(|| place.allowed.iter().map(PathBuf::as_path).find(|it| directory.starts_with(it)))?;
    let inside = directory.ancestors().take_while(|ancestor| ancestor.starts_with(top));
    inside.map(|ancestor| ancestor.join(config::FILE_NAME)).find(|file| file.is_file())
}

/// Reads it; what is wrong with it ends the run.
pub(super) fn load(sources: &Sources, path: Option<&str>, place: &Place) -> Result<Config, Failure> {
    let Some(path) = path else { return Ok(Config::default()) };
    let (config, wrong) = config::load(sources, path, env!("CARGO_PKG_VERSION"));
    if wrong.is_empty() {
        return Ok(config);
    }
    let paths = place.paths();
    let style = Style { color: output::errors_in_color() };
    let count = if wrong.len() == 1 { "a mistake".to_owned() } else { format!("{} mistakes", wrong.len()) };
    let told = report::diagnostics(sources, &paths, &wrong, style);
    Err(Failure::new(format!("`{}` has {count}", paths.show(path)))
        .with_details(told)
        .with_help("`gpulint config schema` lists every setting"))
}

/// The catalog that `--prices` names, with the user's own prices laid over it.
pub(super) fn catalog(input: &Input, sources: &Sources, config: &Config, place: &Place) -> Result<Catalog, Failure> {
    let (catalog, has_own) = prices::catalog(input.prices.as_deref())?;
    let Some((path, _)) = config.text("prices.file").filter(|_| !has_own) else { return Ok(catalog) };
    let shown = place.paths().show(path);
    let file = sources.open(path).map_err(|error| {
        Failure::new(format!("`{shown}` cannot be read: {error}")).with_help("`prices.file` in gpulint.toml names it")
    })?;
    let rate = config.number("prices.usd_per_unit").unwrap_or(1.0);
    prices::lay_over(catalog, &shown, &sources.text(file), rate)
}
