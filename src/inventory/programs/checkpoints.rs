//! Finds checkpoints that do not outlive their machine.

/// Returns true if a path names a bucket or a hub, or if a part of it is unknown.
pub fn is_remote_or_open(path: &str) -> bool {
    path.contains("://") || path.contains(['$', '{', crate::languages::shell::HOLE]) || path.is_empty()
}

/// Returns true if commands copy results to another place, or mount one.
pub fn copies_results(commands: &str) -> bool {
    const COPIES: [&str; 20] = [
        "s3 sync",
        "s3 cp",
        "s3 mv",
        "s5cmd",
        "gsutil",
        "gcloud storage",
        "azcopy",
        "az storage",
        "rclone",
        "rsync",
        "scp ",
        "upload",
        "push_to_hub",
        "hub_model_id",
        "mc cp",
        "mc mirror",
        "mount",
        "gcsfuse",
        "s3fs",
        "juicefs",
    ];
    COPIES.iter().any(|word| commands.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_copied_by_known_programs() {
        assert!(copies_results("train --output_dir /out && aws s3 sync /out s3://b"));
        assert!(!copies_results("train --output_dir /out"));
        assert!(is_remote_or_open("gs://b/out") && is_remote_or_open("$OUT/a") && !is_remote_or_open("/tmp/out"));
    }
}
