//! Parses the parts of the protobuf text format that the conformance tests use.

#[derive(Debug, Clone, Default)]
pub(super) struct TextprotoMessage {
    pub(super) fields: Vec<(String, ProtoField)>,
}

#[derive(Debug, Clone)]
pub(super) enum ProtoField {
    Bytes(Vec<u8>),
    Word(String),
    Message(TextprotoMessage),
}

impl TextprotoMessage {
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a ProtoField> {
        self.fields.iter().filter(move |(found, _)| found == name).map(|(_, field)| field)
    }

    pub(super) fn messages<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a TextprotoMessage> {
        self.all(name).filter_map(|field| match field {
            ProtoField::Message(message) => Some(message),
            _ => None,
        })
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.all(name).find_map(|field| match field {
            ProtoField::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            ProtoField::Word(word) => Some(word.clone()),
            ProtoField::Message(_) => None,
        })
    }
}

pub(super) fn parse(text: &str) -> TextprotoMessage {
    let mut reader = Reader { text: text.as_bytes(), at: 0 };
    reader.message(None)
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn skip(&mut self) {
        while let Some(byte) = self.text.get(self.at) {
            match byte {
                b'#' => {
                    while self.text.get(self.at).is_some_and(|byte| *byte != b'\n') {
                        self.at += 1;
                    }
                }
                byte if byte.is_ascii_whitespace() || matches!(byte, b',' | b';') => self.at += 1,
                _ => break,
            }
        }
    }

    fn peek(&mut self) -> Option<u8> {
        self.skip();
        self.text.get(self.at).copied()
    }

    fn message(&mut self, close: Option<u8>) -> TextprotoMessage {
        let mut message = TextprotoMessage::default();
        loop {
            match self.peek() {
                None => return message,
                Some(byte) if Some(byte) == close => {
                    self.at += 1;
                    return message;
                }
                Some(b'[') => {
                    let start = self.at;
                    while self.text[self.at] != b']' {
                        self.at += 1;
                    }
                    self.at += 1;
                    let name = String::from_utf8_lossy(&self.text[start..self.at]).into_owned();
                    self.value(name, &mut message);
                }
                Some(_) => {
                    let name = self.word();
                    self.value(name, &mut message);
                }
            }
        }
    }

    fn word(&mut self) -> String {
        let start = self.at;
        while self
            .text
            .get(self.at)
            .is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-' | b'+'))
        {
            self.at += 1;
        }
        assert!(self.at > start, "stuck at {:?}", String::from_utf8_lossy(&self.text[start..][..60]));
        String::from_utf8_lossy(&self.text[start..self.at]).into_owned()
    }

    fn value(&mut self, name: String, into: &mut TextprotoMessage) {
        if self.peek() == Some(b':') {
            self.at += 1;
        }
        match self.peek().unwrap() {
            open @ (b'{' | b'<') => {
                self.at += 1;
                let inner = self.message(Some(if open == b'{' { b'}' } else { b'>' }));
                into.fields.push((name, ProtoField::Message(inner)));
            }
            b'[' => {
                self.at += 1;
                while self.peek() != Some(b']') {
                    self.value(name.clone(), into);
                }
                self.at += 1;
            }
            b'"' | b'\'' => {
                let mut bytes = Vec::new();
                while let Some(quote @ (b'"' | b'\'')) = self.peek() {
                    self.quoted(quote, &mut bytes);
                }
                into.fields.push((name, ProtoField::Bytes(bytes)));
            }
            _ => {
                let word = self.word();
                into.fields.push((name, ProtoField::Word(word)));
            }
        }
    }

    fn quoted(&mut self, quote: u8, into: &mut Vec<u8>) {
        self.at += 1;
        while self.text[self.at] != quote {
            if self.text[self.at] != b'\\' {
                into.push(self.text[self.at]);
                self.at += 1;
                continue;
            }
            let letter = self.text[self.at + 1];
            self.at += 2;
            match letter {
                b'n' => into.push(b'\n'),
                b't' => into.push(b'\t'),
                b'r' => into.push(b'\r'),
                b'a' => into.push(7),
                b'b' => into.push(8),
                b'f' => into.push(12),
                b'v' => into.push(11),
                b'x' | b'X' => {
                    let digits = std::str::from_utf8(&self.text[self.at..self.at + 2]).unwrap();
                    into.push(u8::from_str_radix(digits, 16).unwrap());
                    self.at += 2;
                }
                b'u' | b'U' => {
                    let length = if letter == b'u' { 4 } else { 8 };
                    let digits = std::str::from_utf8(&self.text[self.at..self.at + length]).unwrap();
                    let c = char::from_u32(u32::from_str_radix(digits, 16).unwrap()).unwrap();
                    into.extend_from_slice(c.to_string().as_bytes());
                    self.at += length;
                }
                b'0'..=b'7' => {
                    let mut number = u32::from(letter - b'0');
                    for _ in 0..2 {
                        if let digit @ b'0'..=b'7' = self.text[self.at] {
                            number = number * 8 + u32::from(digit - b'0');
                            self.at += 1;
                        }
                    }
                    into.push(number as u8);
                }
                other => into.push(other),
            }
        }
        self.at += 1;
    }
}
