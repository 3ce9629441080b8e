//! Finds the pull request of a merge in the commit message that the code host wrote.

use crate::cli::io::git_log::LONGEST_TEXT;
use crate::report::PullRequest;

/// The most digits of a pull request's number.
const MOST_DIGITS: usize = 10;

/// Returns the pull request that the message of a merge names, if a code host wrote the message.
pub(super) fn pull_request(message: &str) -> Option<PullRequest> {
    let (subject, body) = message.split_once('\n').unwrap_or((message, ""));
    let mut lines = body.lines().map(str::trim).filter(|it| !it.is_empty());
    let title = lines.next();
    gitea(subject)
        .or_else(|| {
            // GitHub writes this message, and so does Bitbucket Data Center, whose body lists commits.
            let (number, rest) = leading_number(subject.strip_prefix("Merge pull request #")?)?;
            let is_titled = rest.starts_with(" from ");
            Some(request('#', number, title.filter(|_| is_titled)))
        })
        .or_else(|| {
            // Newer versions of Bitbucket Data Center write this message.
            let (number, rest) = leading_number(subject.strip_prefix("Pull request #")?)?;
            Some(request('#', number, rest.strip_prefix(": ")))
        })
        .or_else(|| {
            // Bitbucket Cloud writes this message.
            let (_, rest) = subject.strip_prefix("Merged in ")?.rsplit_once(" (pull request #")?;
            let (number, _) = leading_number(rest).filter(|(_, rest)| *rest == ")")?;
            Some(request('#', number, title))
        })
        .or_else(|| {
            // Azure DevOps writes this message.
            let (number, rest) = leading_number(subject.strip_prefix("Merged PR ")?)?;
            Some(request('!', number, Some(rest.strip_prefix(": ")?)))
        })
        .or_else(|| {
            // GitLab names the pull request at the end of the message. The title may be missing.
            subject.strip_prefix("Merge branch ")?;
            let is_reference = |line: &str| line.starts_with("See merge request ");
            let (_, number) = body.lines().map(str::trim).rfind(|it| is_reference(it))?.rsplit_once('!')?;
            let (number, _) = leading_number(number).filter(|(_, rest)| rest.is_empty())?;
            Some(request('!', number, title.filter(|it| !is_reference(it))))
        })
}

/// Parses the message of Gitea and Forgejo: `Merge pull request 'Add pools' (#7) from pools into main`
fn gitea(subject: &str) -> Option<PullRequest> {
    let (title, rest) = subject.strip_prefix("Merge pull request '")?.rsplit_once("' (#")?;
    let (number, _) = leading_number(rest).filter(|(_, rest)| rest.starts_with(") from "))?;
    Some(request('#', number, Some(title)))
}

fn request(sign: char, number: &str, title: Option<&str>) -> PullRequest {
    PullRequest { name: format!("{sign}{number}"), title: title.map(|it| it.chars().take(LONGEST_TEXT).collect()) }
}

/// Splits a string after its leading digits.
fn leading_number(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (1..=MOST_DIGITS).contains(&end).then(|| text.split_at(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_messages_of_code_hosts_name_their_pull_requests() {
        let cases = [
            ("Merge pull request #7 from ada/pools\n\nAdd pools\n", "#7", Some("Add pools")),
            ("Merge pull request #12 from ada/pools", "#12", None),
            (
                "Merge branch 'pools' into 'main'\n\nAdd pools\n\nCloses #3\n\nSee merge request ml/infra!41",
                "!41",
                Some("Add pools"),
            ),
            ("Merge branch 'pools' into 'main'\n\nSee merge request ml/infra!41\n", "!41", None),
            ("Merged in pools (pull request #9)\n\nAdd pools\n\nApproved-by: Lin", "#9", Some("Add pools")),
            ("Pull request #5: Add pools\n\nMerge in ML/infra from pools to main", "#5", Some("Add pools")),
            ("Merge pull request #5 in ML/infra from pools to main\n\n* commit 'abc':\n  Fix", "#5", None),
            ("Merged PR 31: Add pools\n\nRelated work items: #1", "!31", Some("Add pools")),
            ("Merge pull request 'Add '8' pools' (#6) from pools into main", "#6", Some("Add '8' pools")),
        ];
        for (message, name, title) in cases {
            let found = pull_request(message).map(|it| (it.name, it.title));
            assert_eq!(found, Some((name.to_owned(), title.map(str::to_owned))), "{message}");
        }
    }

    #[test]
    fn other_messages_name_none() {
        for message in [
            "",
            "Merge branch 'pools'",
            "Merge branch 'pools' into 'main'\n\nSee merge request ml/infra",
            "Merge branch 'pools'\n\nSee merge request ml/infra!x",
            "Merge pull request # from a/b",
            "Merge pull request #99999999999 from a/b",
            "Merge pull request #٧ from a/b",
            "Merged in pools (pull request #9) and more",
            "Merged PR seven: Add pools",
            "Revert \"Merge pull request #7 from a/b\"",
            "Add pools (#7)",
        ] {
            assert_eq!(pull_request(message), None, "{message}");
        }
    }
}
