//! Writes Slack blocks. All text is `plain_text`, so it contains no markup and mentions no users.

use serde_json::{Value, json};

use super::content::ChatMessage;
use crate::report::escape::{one_line, shortened};
use crate::report::formats::json::print;

/// Slack's limits for a header, a section and a message.
const HEADER: usize = 150;
const SECTION: usize = 3_000;
const BLOCKS: usize = 50;

/// The maximum number of entries of a section.
const ENTRY: usize = 500;

pub(in crate::report) fn message(it: &ChatMessage) -> String {
    let plain = |text: &str, most: usize| json!({ "type": "plain_text", "text": cut(text, most), "emoji": false });
    let section = |text: &str| json!({ "type": "section", "text": plain(text, SECTION) });
    let mut blocks: Vec<Value> = vec![json!({ "type": "header", "text": plain(&one_line(&it.title), HEADER) })];
    // A shortened header is repeated in full below it.
    if it.title.encode_utf16().count() > HEADER {
        blocks.push(section(&one_line(&it.title)));
    }
    blocks.extend(it.lines.iter().map(|line| section(&one_line(line))));
    for (heading, lines) in &it.lists {
        let lines = lines.iter().map(|line| format!("• {}", cut(&one_line(line), ENTRY)));
        let text = std::iter::once(one_line(heading)).chain(lines).collect::<Vec<_>>().join("\n");
        blocks.push(section(&text));
    }
    if let Some(url) = &it.url {
        let button = json!({ "type": "button", "text": plain("Full report", 75), "url": url });
        blocks.push(json!({ "type": "actions", "elements": [button] }));
    }
    blocks.truncate(BLOCKS - 1);
    blocks.push(json!({ "type": "context", "elements": [plain(&one_line(&it.footer), SECTION)] }));
    // The text without blocks, for notifications.
    print(&json!({ "text": escaped(&shortened(&one_line(&it.title), SECTION)), "blocks": blocks }))
}

/// Shortens text as Slack counts it, in UTF-16 units: a character beyond the basic plane is two.
fn cut(text: &str, most: usize) -> String {
    if text.encode_utf16().count() <= most {
        return text.to_owned();
    }
    let mut room = most.saturating_sub(1);
    let fits = |c: &char| {
        let left = room.checked_sub(c.len_utf16());
        room = left.unwrap_or(0);
        left.is_some()
    };
    let kept: String = text.chars().take_while(fits).collect();
    format!("{kept}…")
}

/// Escapes the only text that Slack reads as markup. Replacing three characters prevents mentions and links.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
