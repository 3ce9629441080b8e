//! Recognizes scripts that only list devices, and images in which people work.

use crate::languages::shell;

use super::words::base_name;

/// Returns true if a script lists devices, and otherwise only prints, waits and ends.
pub fn only_lists_devices(script: &str) -> bool {
    const LISTS: [&str; 3] = ["nvidia-smi", "rocm-smi", "xpu-smi"];
    const QUIET: [&str; 16] = [
        "echo", "printf", "date", "hostname", "uname", "env", "ls", "cat", "sleep", "true", ":", "set", "exit", "id",
        "sync", "clear",
    ];
    let commands = shell::commands(script, &|_| None, &mut 0);
    let name =
        |words: &Vec<shell::ShellWord>| words.first().map(|word| base_name(&word.text).to_owned()).unwrap_or_default();
    let names: Vec<String> = commands.iter().map(name).collect();
    names.iter().any(|name| LISTS.contains(&name.as_str()))
        && names.iter().all(|name| LISTS.contains(&name.as_str()) || QUIET.contains(&name.as_str()))
}

/// Images that start a notebook or an editor for a person, by the last parts of their path (their documentation,
/// 2026-11).
const NOTEBOOK_IMAGES: [&str; 14] = [
    "jupyter/",
    "jupyterhub/k8s-singleuser",
    "jupyterhub/singleuser",
    "code-server",
    "openvscode-server",
    "rstudio",
    "rocker/ml",
    "rocker/geospatial",
    "rocker/tidyverse",
    "kubeflownotebookswg/",
    "cschranz/gpu-jupyter",
    "jupyterlab",
    "jupyter-",
    "kasmweb/",
];

/// Returns true if an image starts a notebook or an editor by itself.
pub fn is_notebook_image(image: &str) -> bool {
    let path = image.split('@').next().unwrap_or(image).to_ascii_lowercase();
    let parts: Vec<&str> = path.rsplit('/').take(2).collect();
    let ends: Vec<String> = match parts.as_slice() {
        [name, parent] => vec![format!("{parent}/{name}"), (*name).to_owned()],
        names => names.iter().map(|name| (*name).to_owned()).collect(),
    };
    ends.iter().any(|end| NOTEBOOK_IMAGES.iter().any(|known| end.starts_with(known)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_that_does_more_is_work() {
        assert!(only_lists_devices("echo a; nvidia-smi -L && sleep 30"));
        assert!(!only_lists_devices("nvidia-smi; python train.py"));
        assert!(!only_lists_devices("echo nvidia-smi"));
    }

    #[test]
    fn notebooks_are_known_by_their_images() {
        for image in [
            "quay.io/jupyter/pytorch-notebook:cuda12-2025-10-01",
            "jupyter/tensorflow-notebook",
            "codercom/code-server:4.96",
            "lscr.io/linuxserver/code-server",
            "rocker/rstudio:4.4",
            "rocker/ml:cuda",
            "gitpod/openvscode-server@sha256:0",
            "quay.io/jupyterhub/k8s-singleuser-sample:4.1",
        ] {
            assert!(is_notebook_image(image), "{image}");
        }
        for image in
            ["vllm/vllm-openai", "acme/jupyterless", "jupyterhub/k8s-hub:4", "jupyterhub/configurable-http-proxy"]
        {
            assert!(!is_notebook_image(image), "{image}");
        }
    }
}
