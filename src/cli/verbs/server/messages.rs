//! Reads and writes the messages of the editor. A message with an invalid header, too many bytes or too much nesting is
//! skipped, so that it neither ends the session nor exhausts memory.

use std::io::{self, BufRead, Read, stdin};
use std::thread::{Builder, JoinHandle};

use crossbeam_channel::{Sender, bounded};
use lsp_server::{Connection, Message, Notification};
use serde_json::json;

use crate::cli::Failure;
use crate::cli::io::output;

/// The longest message that is read: a document of the largest size that gpulint reads, with escaped characters.
const LONGEST_BYTES: u64 = 256 << 20;

/// The longest line of a header that is read at once.
const LONGEST_LINE: u64 = 4 << 10;

const LENGTH: &[u8] = b"content-length:";

/// The threads that read and write messages.
pub(super) struct MessageThreads {
    reader: JoinHandle<()>,
    writer: JoinHandle<()>,
}

impl MessageThreads {
    /// Waits until the input ends and all messages are sent.
    pub(super) fn join(self) {
        let _ = self.reader.join();
        let _ = self.writer.join();
    }
}

/// Connects to the editor through standard input and output.
pub(super) fn connect() -> Result<(Connection, MessageThreads), Failure> {
    let no_thread = |error: io::Error| Failure::new(format!("the system cannot start a thread: {error}"));
    let (sender, to_send) = bounded::<Message>(0);
    let (received, receiver) = bounded::<Message>(0);
    let writer = Builder::new().name("writer".to_owned()).spawn(move || {
        // If the editor has exited, messages are dropped.
        let _ = to_send.into_iter().try_for_each(|message| output::frame(|out| message.write(out)));
    });
    let complain = sender.clone();
    let reader = Builder::new().name("reader".to_owned()).spawn(move || receive(&received, &complain));
    let threads = MessageThreads { reader: reader.map_err(no_thread)?, writer: writer.map_err(no_thread)? };
    Ok((Connection { sender, receiver }, threads))
}

/// Passes on messages until the input or the session ends.
fn receive(received: &Sender<Message>, complain: &Sender<Message>) {
    let mut input = stdin().lock();
    while let Ok(Some(next)) = next_message(&mut input) {
        match next {
            Ok(message) => {
                let is_exit = matches!(&message, Message::Notification(it) if it.method == "exit");
                if received.send(message).is_err() || is_exit {
                    return;
                }
            }
            Err(why) => {
                const ERROR: i32 = 1;
                let message = format!("gpulint skips a message of the editor: {why}");
                let log =
                    Notification::new("window/logMessage".to_owned(), json!({ "type": ERROR, "message": message }));
                if complain.send(log.into()).is_err() {
                    return;
                }
            }
        }
    }
}

/// Returns the next message, or why it is skipped; `None` at the end of the input.
fn next_message(input: &mut impl BufRead) -> io::Result<Option<Result<Message, String>>> {
    let length = match next_header(input)? {
        Some(Ok(length)) => length,
        Some(Err(why)) => return Ok(Some(Err(why))),
        None => return Ok(None),
    };
    // Memory grows with the bytes that arrive, not with the bytes that the header promises.
    let mut body = Vec::new();
    if input.by_ref().take(length).read_to_end(&mut body)? as u64 != length {
        return Ok(None);
    }
    let message = serde_json::from_slice(&body);
    Ok(Some(message.map_err(|error| format!("its content is not a message of the protocol: {error}"))))
}

/// Reads a header and returns the length of its message; `None` at the end of the input. After an invalid header, the
/// content of its message is searched for the next header.
fn next_header(input: &mut impl BufRead) -> io::Result<Option<Result<u64, String>>> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        if input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let is_end = line.trim_ascii().is_empty();
        match (length, length_in(&line)) {
            (Some(length), _) if is_end => return Ok(Some(Ok(length))),
            (_, Some(Ok(found))) => length = Some(found),
            (_, Some(Err(why))) => return Ok(Some(Err(why))),
            _ => {}
        }
    }
}

/// Returns the length in a line of a header, or why it is invalid; `None` for another line.
fn length_in(line: &[u8]) -> Option<Result<u64, String>> {
    let start = line.windows(LENGTH.len()).rposition(|it| it.eq_ignore_ascii_case(LENGTH))?;
    let written = String::from_utf8_lossy(line.get(start + LENGTH.len()..)?.trim_ascii()).into_owned();
    Some(match written.parse::<u64>() {
        Ok(length) if length <= LONGEST_BYTES => Ok(length),
        Ok(length) => Err(format!("its `Content-Length` is {length}, maximum {LONGEST_BYTES}")),
        Err(_) => Err("its `Content-Length` is not a number of bytes".to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the method of each message, or `skipped`.
    fn heard(input: &[u8]) -> Vec<String> {
        let mut input = input;
        let mut all = Vec::new();
        while let Ok(Some(next)) = next_message(&mut input) {
            all.push(match next {
                Ok(Message::Notification(it)) => it.method,
                Ok(_) => "another".to_owned(),
                Err(_) => "skipped".to_owned(),
            });
        }
        all
    }

    fn framed(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    const SOUND: &str = r#"{"jsonrpc":"2.0","method":"sound"}"#;

    #[test]
    fn invalid_messages_are_skipped_and_the_next_one_is_read() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let in_parameters = format!(r#"{{"jsonrpc":"2.0","method":"deep","params":{deep}}}"#);
        let bad = [
            format!("Content-Length: 107374182400\r\n\r\n{SOUND}"),
            format!("Content-Length: -1\r\n\r\n{SOUND}"),
            format!("Content-Length: 99999999999999999999999\r\n\r\n{SOUND}"),
            "Content-Length: \r\n\r\n{}".to_owned(),
            framed("{"),
            framed(&deep),
            framed(&in_parameters),
            framed("\u{0}\u{0}"),
        ];
        for bad in bad {
            let input = format!("{bad}{}", framed(SOUND));
            assert_eq!(heard(input.as_bytes()), ["skipped", "sound"], "{:.60}", bad);
        }
    }

    /// Without a length, the end of a message is unknown: the search for the next header skips the message.
    #[test]
    fn a_message_without_a_length_hides_no_other() {
        let input = format!("Content-Type: x\r\n\r\n{SOUND}{}{}", framed(SOUND), framed(SOUND));
        assert_eq!(heard(input.as_bytes()), ["sound", "sound"]);
        assert_eq!(heard(&[b'x'; 20_000]), [""; 0]);
        assert_eq!(heard(b"Content-Length: 1000\r\n\r\n{}"), [""; 0]);
    }
}
