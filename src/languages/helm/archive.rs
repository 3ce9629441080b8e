//! Unpacks chart archives in memory. A small archive may expand to many bytes, and its names may point anywhere.

use std::io::Read;

use flate2::read::GzDecoder;

use crate::source::normalize;

/// The size limit of an archive; the largest public charts use 10% of it.
const MOST_BYTES: u64 = 16 << 20;
const MOST_FILES: usize = 5_000;
/// The length of an archive's blocks.
const BLOCK: usize = 512;
/// The position of each header field.
const NAME: std::ops::Range<usize> = 0..100;
const SIZE: std::ops::Range<usize> = 124..136;
const KIND: usize = 156;
const PREFIX: std::ops::Range<usize> = 345..500;

/// Returns the files of an archive by their names in its only folder, sorted.
pub(super) fn unpack(packed: &[u8]) -> Result<Vec<(String, Vec<u8>)>, String> {
    let mut bytes = Vec::new();
    let mut decoder = GzDecoder::new(packed).take(MOST_BYTES + 1);
    decoder.read_to_end(&mut bytes).map_err(|why| format!("the archive cannot be unpacked: {why}"))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(format!("the archive contains more than {} MiB", MOST_BYTES >> 20));
    }
    let mut files = Vec::new();
    let mut rest = bytes.as_slice();
    let mut long_name = None;
    while let Some((header, behind)) = rest.split_at_checked(BLOCK) {
        if header.iter().all(|byte| *byte == 0) {
            break;
        }
        let size = size(header).ok_or("a header of the archive has no size")?;
        let (content, _) = behind.split_at_checked(size).ok_or("the archive ends within a file")?;
        rest = behind.get(size.next_multiple_of(BLOCK)..).unwrap_or_default();
        match header.get(KIND) {
            Some(b'0' | 0) => {
                let name = long_name.take().unwrap_or_else(|| name(header));
                files.extend(inside(&name).map(|name| (name, content.to_vec())));
            }
            Some(b'L') => long_name = Some(text(content)),
            Some(b'x') => long_name = path_of(content).or(long_name),
            // Skips folders, links and global headers.
            _ => long_name = None,
        }
        if files.len() > MOST_FILES {
            return Err(format!("the archive contains more than {MOST_FILES} files"));
        }
    }
    files.sort();
    files.dedup_by(|a, b| a.0 == b.0);
    Ok(files)
}

fn size(header: &[u8]) -> Option<usize> {
    let digits = text(header.get(SIZE)?);
    usize::from_str_radix(digits.trim(), 8).ok()
}

fn name(header: &[u8]) -> String {
    let part = |range| text(header.get(range).unwrap_or_default());
    let is_posix = header.get(257..262) == Some(b"ustar");
    match part(PREFIX) {
        prefix if is_posix && !prefix.is_empty() => format!("{prefix}/{}", part(NAME)),
        _ => part(NAME),
    }
}

/// Reads up to the first zero byte.
fn text(bytes: &[u8]) -> String {
    let end = memchr::memchr(0, bytes).unwrap_or(bytes.len());
    String::from_utf8_lossy(bytes.get(..end).unwrap_or_default()).into_owned()
}

/// Returns the path in an extended header, which consists of lines with a length, a key and a value.
fn path_of(said: &[u8]) -> Option<String> {
    let said = String::from_utf8_lossy(said);
    said.lines().find_map(|line| Some(line.split_once(" path=")?.1.to_owned()))
}

/// Returns the name in the only folder of a packed chart; `None` if it leads out of the folder.
fn inside(name: &str) -> Option<String> {
    let name = normalize(name)?;
    let (_, inside) = name.split_once('/')?;
    Some(inside.to_owned())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn packed(files: &[(&str, u8, &[u8])]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (name, kind, content) in files {
            let mut header = vec![0; BLOCK];
            header[..name.len()].copy_from_slice(name.as_bytes());
            header[SIZE].copy_from_slice(format!("{:011o}\0", content.len()).as_bytes());
            header[KIND] = *kind;
            bytes.extend(header);
            bytes.extend(*content);
            bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
        }
        bytes.resize(bytes.len() + 2 * BLOCK, 0);
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn files_are_unpacked_and_none_leads_out() {
        let archive = packed(&[
            ("c/Chart.yaml", b'0', b"name: c\n"),
            ("c/../../x", b'0', b"out"),
            ("/etc/x", b'2', b""),
            ("long", b'L', b"c/templates/a.yaml\0"),
            ("short", b'0', b"kind: A\n"),
        ]);
        let files = unpack(&archive).unwrap();
        let seen: Vec<_> = files.iter().map(|(name, text)| (name.as_str(), text.len())).collect();
        assert_eq!(seen, [("Chart.yaml", 8), ("templates/a.yaml", 8)]);
    }

    #[test]
    fn what_is_no_archive_or_grows_without_end_is_refused() {
        assert!(unpack(b"no archive").is_err());
        let half = packed(&[("c/a", b'0', &[1; 2000])]);
        assert!(unpack(&half[..half.len() / 2]).is_err());
        let zeros = vec![b'a'; usize::try_from(MOST_BYTES).unwrap() + 1];
        assert!(unpack(&packed(&[("c/a", b'0', &zeros)])).unwrap_err().contains("more than 16 MiB"));
    }
}
