//! Writes an adaptive card for a Teams webhook. Text is in runs, which contain no markup.

use serde_json::{Value, json};

use super::content::ChatMessage;
use crate::report::escape::{one_line, shortened};
use crate::report::formats::json::print;

/// Teams limits the message that it creates from this one to 28 kB, so only a part is available.
const LONGEST_MESSAGE_BYTES: usize = 20_000;

/// Characters of one run; fewer if characters need several bytes.
const LONGEST: [usize; 3] = [600, 300, 150];

pub(in crate::report) fn message(it: &ChatMessage) -> String {
    let mut text = String::new();
    for longest in LONGEST {
        text = card(it, longest);
        if text.len() <= LONGEST_MESSAGE_BYTES {
            break;
        }
    }
    text
}

fn card(it: &ChatMessage, longest: usize) -> String {
    let run = |text: &str, look: Value| run(&shortened(&one_line(text), longest), look);
    let mut body: Vec<Value> = vec![run(&it.title, json!({ "size": "Large", "weight": "Bolder" }))];
    body.extend(it.lines.iter().map(|line| run(line, json!({}))));
    for (heading, lines) in &it.lists {
        body.push(run(heading, json!({ "weight": "Bolder" })));
        body.extend(lines.iter().map(|line| run(&format!("• {line}"), json!({}))));
    }
    body.push(run(&it.footer, json!({ "isSubtle": true, "size": "Small" })));
    let open = |url: &String| json!({ "type": "Action.OpenUrl", "title": "Full report", "url": url });
    let actions: Vec<Value> = it.url.iter().map(open).collect();
    print(&json!({
        "type": "message",
        "attachments": [{
            "contentType": "application/vnd.microsoft.card.adaptive",
            "content": {
                "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
                "type": "AdaptiveCard",
                "version": "1.4",
                "body": body,
                "actions": actions,
            },
        }],
    }))
}

fn run(text: &str, look: Value) -> Value {
    let mut run = json!({ "type": "TextRun", "text": text });
    if let (Some(run), Value::Object(look)) = (run.as_object_mut(), look) {
        run.extend(look);
    }
    json!({ "type": "RichTextBlock", "inlines": [run] })
}
