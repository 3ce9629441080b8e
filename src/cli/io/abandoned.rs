//! Deletes temporary files of killed runs: only files with gpulint's own names, to which no process can
//! still be writing.

use std::fs::{self, Metadata};
use std::path::Path;
use std::time::Duration;

/// The age from which a file is abandoned. Writing takes moments, rendering takes minutes.
const ABANDONED: Duration = Duration::from_secs(3_600);
/// The age from which a process id must have been reused.
const FORGOTTEN: Duration = Duration::from_secs(86_400);

/// Deletes abandoned files and directories. `process` returns the process id in their names. A
/// link is never deleted.
pub(in crate::cli) fn sweep(directory: &Path, process: impl Fn(&[u8]) -> Option<&[u8]>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(id) = process(name.as_encoded_bytes()) else { continue };
        let Ok(found) = entry.metadata() else { continue };
        if !is_own(&found) || !is_abandoned(&found, id) {
            continue;
        }
        if found.is_file() {
            drop(fs::remove_file(entry.path()));
        } else if found.is_dir() {
            drop(fs::remove_dir_all(entry.path()));
        }
    }
}

/// Returns the digits at the end of a name.
pub(in crate::cli) fn digits(text: &[u8]) -> Option<&[u8]> {
    (!text.is_empty() && text.iter().all(u8::is_ascii_digit)).then_some(text)
}

fn is_abandoned(found: &Metadata, process: &[u8]) -> bool {
    let Some(age) = found.modified().ok().and_then(|written| written.elapsed().ok()) else { return false };
    age > FORGOTTEN || age > ABANDONED && !is_running(process)
}

/// Whether this user owns the file. A shared directory can contain files of other users with the same names.
#[cfg(unix)]
fn is_own(found: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    found.uid() == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn is_own(_: &Metadata) -> bool {
    true
}

#[cfg(unix)]
fn is_running(process: &[u8]) -> bool {
    let id = std::str::from_utf8(process).ok().and_then(|digits| digits.parse().ok());
    let found = id.and_then(rustix::process::Pid::from_raw).map(rustix::process::test_kill_process);
    // If gpulint may not send a signal to a process, the process exists.
    found.is_some_and(|answer| answer != Err(rustix::io::Errno::SRCH))
}

#[cfg(not(unix))]
fn is_running(_: &[u8]) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::File;
    use std::os::unix::fs::symlink;
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn what_killed_runs_left_behind_goes_and_nothing_else() {
        let here = std::env::temp_dir().join(format!("abandoned-{}", std::process::id()));
        fs::create_dir_all(&here).unwrap();
        // No system has such large process ids.
        let (gone, own) = (i32::MAX, std::process::id());
        let old = |name: &str, age: Duration| {
            let at = here.join(name);
            fs::create_dir_all(&at).unwrap();
            fs::write(at.join("x"), "x").unwrap();
            File::open(&at).unwrap().set_modified(SystemTime::now() - age).unwrap();
        };
        let hours = |hours: u64| Duration::from_secs(hours * 3_600);
        old(&format!("x-{gone}-1"), hours(2));
        old(&format!("x-{gone}-2"), hours(0));
        old(&format!("x-{own}-3"), hours(2));
        old(&format!("x-{own}-4"), hours(30));
        old(&format!("y-{gone}-5"), hours(30));
        old("kept", hours(30));
        symlink(here.join("kept"), here.join(format!("x-{gone}-6"))).unwrap();
        sweep(&here, |name| {
            let (process, number) = name.strip_prefix(b"x-")?.split_at_checked(name.len() - 4)?;
            digits(number.strip_prefix(b"-")?)?;
            digits(process)
        });
        let mut left: Vec<String> =
            fs::read_dir(&here).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        left.sort();
        let mut expected = [
            "kept".to_owned(),
            format!("x-{gone}-2"),
            format!("x-{gone}-6"),
            format!("x-{own}-3"),
            format!("y-{gone}-5"),
        ];
        expected.sort();
        assert_eq!(left, expected);
        assert!(here.join("kept/x").exists());
        fs::remove_dir_all(&here).unwrap();
    }
}
