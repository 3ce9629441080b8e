//! Writes values as YAML in block style. Each program defines how to access values and write scalars.

/// The content of a collection.
pub(crate) enum Members<K, V> {
    Map(Vec<(K, V)>),
    List(Vec<V>),
}

/// The text before a node on its line.
#[derive(Clone, Copy, PartialEq)]
enum Position {
    Nothing,
    Key,
    Dash,
}

pub(crate) type MembersOf<W, V> =
    Result<Option<Members<<W as BlockWriter<V>>::Key, V>>, <W as BlockWriter<V>>::Failure>;

pub(crate) trait BlockWriter<V>: Sized {
    type Key;
    type Failure;

    /// Extra indentation of a list below its key.
    const LIST_INDENT: usize = 0;

    fn put(&mut self, text: &str);

    /// Returns the members of a collection that is not empty.
    fn members(&mut self, value: &V, indent: usize, depth: usize) -> MembersOf<Self, V>;

    /// Returns true if the key needs a question mark.
    fn is_long(&self, _key: &Self::Key) -> bool {
        false
    }

    fn key(&mut self, key: &Self::Key, indent: usize) -> Result<(), Self::Failure>;

    /// Writes a node without members in a collection with this indentation.
    fn scalar(&mut self, value: &V, indent: usize) -> Result<(), Self::Failure>;

    /// Writes a text without the line break at its end.
    fn document(&mut self, value: &V) -> Result<(), Self::Failure> {
        node(self, value, 0, 0, Position::Nothing)
    }
}

fn node<V, W: BlockWriter<V>>(
    writer: &mut W,
    value: &V,
    indent: usize,
    depth: usize,
    position: Position,
) -> Result<(), W::Failure> {
    match writer.members(value, indent, depth)? {
        None => {
            if position != Position::Nothing {
                writer.put(" ");
            }
            writer.scalar(value, indent)
        }
        Some(Members::Map(entries)) => {
            let indent = if position == Position::Nothing { indent } else { indent + 2 };
            for (index, (key, member)) in entries.iter().enumerate() {
                begin_line(writer, index, indent, position);
                let is_long = writer.is_long(key);
                writer.put(if is_long { "? " } else { "" });
                writer.key(key, indent)?;
                if is_long {
                    begin_line(writer, index, indent, Position::Key);
                }
                writer.put(":");
                node(writer, member, indent, depth + 1, Position::Key)?;
            }
            Ok(())
        }
        Some(Members::List(items)) => {
            let indent = match position {
                Position::Nothing => indent,
                Position::Key => indent + W::LIST_INDENT,
                Position::Dash => indent + 2,
            };
            for (index, item) in items.iter().enumerate() {
                begin_line(writer, index, indent, position);
                writer.put("-");
                node(writer, item, indent, depth + 1, Position::Dash)?;
            }
            Ok(())
        }
    }
}

/// The first member of a list item is on the current line.
fn begin_line<V, W: BlockWriter<V>>(writer: &mut W, index: usize, indent: usize, position: Position) {
    match (index, position) {
        (0, Position::Nothing) => {}
        (0, Position::Dash) => writer.put(" "),
        _ => {
            writer.put("\n");
            writer.put(&" ".repeat(indent));
        }
    }
}
