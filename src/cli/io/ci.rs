//! Reads the pull request of a build from its environment.
//!
//! There is one function for each code host. Arguments override the environment.

use serde_json::Value;

use crate::forge::CodeHost;
use crate::http::{Credential, Secret};

/// Returns the value of a variable, if it is set and not empty.
pub(in crate::cli) type CiVariables<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The variables of this process.
pub(in crate::cli) fn process_variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// The pull request as the environment describes it. Arguments complete or override it.
#[derive(Debug, Default, PartialEq)]
pub(in crate::cli) struct Surroundings {
    pub(in crate::cli) api: Option<String>,
    pub(in crate::cli) repository: Option<String>,
    pub(in crate::cli) number: Option<u64>,
    pub(in crate::cli) head: Option<String>,
    pub(in crate::cli) credential: Option<Credential>,
    /// Whether the change comes from a fork, whose builds get no secrets.
    pub(in crate::cli) from_fork: bool,
    /// The owner and the branch of a change, if the build does not know the number of its pull request.
    pub(in crate::cli) source: Option<(String, String)>,
}

pub(in crate::cli) fn surroundings(host: CodeHost, environment: CiVariables, event: Option<&Value>) -> Surroundings {
    match host {
        CodeHost::Github => github(environment, event),
        CodeHost::Gitlab => gitlab(environment),
        CodeHost::Bitbucket => bitbucket(environment),
        CodeHost::Azure => azure(environment),
        CodeHost::Gitea => gitea(environment, event),
    }
}

/// Returns the target branch of this build's pull request.
pub(in crate::cli) fn target_branch(environment: CiVariables) -> Option<String> {
    const NAMES: [&str; 5] = [
        "GITHUB_BASE_REF",
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME",
        "BITBUCKET_PR_DESTINATION_BRANCH",
        "SYSTEM_PULLREQUEST_TARGETBRANCH",
        // Atlantis sets this variable.
        "BASE_BRANCH_NAME",
    ];
    let name = NAMES.iter().find_map(|name| environment(name))?;
    Some(name.strip_prefix("refs/heads/").map_or(name.clone(), str::to_owned))
}

/// Returns the names of the variables for the token, for an error message.
pub(in crate::cli) fn token_variables(host: CodeHost) -> &'static str {
    match host {
        CodeHost::Github => "GITHUB_TOKEN or GH_TOKEN",
        CodeHost::Gitlab => "GITLAB_TOKEN",
        CodeHost::Bitbucket => "BITBUCKET_TOKEN, or BITBUCKET_USERNAME and BITBUCKET_APP_PASSWORD",
        CodeHost::Azure => "SYSTEM_ACCESSTOKEN or AZURE_DEVOPS_EXT_PAT",
        CodeHost::Gitea => "GITEA_TOKEN, FORGEJO_TOKEN or GITHUB_TOKEN",
    }
}

/// Returns how the host expects a token that has no user name.
pub(in crate::cli) fn credential(host: CodeHost, token: Secret, user: Option<String>, has_dots: bool) -> Credential {
    match host {
        CodeHost::Github => Credential::Bearer(token),
        CodeHost::Gitlab => Credential::Header { name: "private-token", value: token },
        CodeHost::Bitbucket => match user {
            Some(user) => Credential::Basic { user, password: token },
            None => Credential::Bearer(token),
        },
        // A build token is a JSON web token and contains dots, a personal token contains none.
        CodeHost::Azure if has_dots => Credential::Bearer(token),
        CodeHost::Azure => Credential::Basic { user: String::new(), password: token },
        CodeHost::Gitea => Credential::Token(token),
    }
}

fn token(host: CodeHost, environment: CiVariables, names: &[&str]) -> Option<Credential> {
    let found = names.iter().find_map(|name| environment(name))?;
    let found = found.trim();
    Some(credential(host, Secret::new(found), None, found.contains('.')))
}

fn github(environment: CiVariables, event: Option<&Value>) -> Surroundings {
    let text = |pointer: &str| event?.pointer(pointer)?.as_str().map(str::to_owned);
    let number = |pointer: &str| event?.pointer(pointer)?.as_u64();
    let ours = environment("GITHUB_REPOSITORY");
    let comes_from = text("/pull_request/head/repo/full_name");
    let is_comment_on_pull = event.is_some_and(|event| event.pointer("/issue/pull_request").is_some());
    Surroundings {
        api: Some(environment("GITHUB_API_URL").unwrap_or_else(|| "https://api.github.com".to_owned())),
        number: number("/pull_request/number").or_else(|| number("/issue/number").filter(|_| is_comment_on_pull)),
        head: text("/pull_request/head/sha").or_else(|| text("/workflow_run/head_sha")),
        credential: token(CodeHost::Github, environment, &["GITHUB_TOKEN", "GH_TOKEN"]),
        from_fork: comes_from.is_some() && comes_from != ours,
        source: text("/workflow_run/head_repository/owner/login").zip(text("/workflow_run/head_branch")),
        repository: ours,
    }
}

/// Returns why the token must not be sent to the API address of the environment: it does not belong to the job's
/// server.
pub(in crate::cli) fn stray_interface(host: CodeHost, environment: CiVariables, api: &str) -> Option<String> {
    let (server, variables) = match host {
        CodeHost::Github => {
            let server = environment("GITHUB_SERVER_URL").unwrap_or_else(|| "https://github.com".to_owned());
            (server, "GITHUB_API_URL is not an API of GITHUB_SERVER_URL")
        }
        CodeHost::Gitlab => (environment("CI_SERVER_URL")?, "CI_API_V4_URL is not an API of CI_SERVER_URL"),
        CodeHost::Bitbucket | CodeHost::Azure | CodeHost::Gitea => return None,
    };
    let (api, server) = (host_of(api), host_of(&server));
    let is_local = matches!(api.as_str(), "localhost" | "127.0.0.1" | "[::1]");
    let belongs = api == server || api.strip_prefix("api.") == Some(server.as_str());
    (!belongs && !is_local).then(|| format!("{variables}: the token would go to `{}`", api.escape_debug()))
}

/// Returns the host of an address: `host` for `https://host:8443/path`.
pub(in crate::cli) fn host_of(address: &str) -> String {
    let rest = address.trim().split_once("://").map_or(address, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let port = host.rfind(':').filter(|at| host.get(at + 1..).is_some_and(|it| it.bytes().all(|b| b.is_ascii_digit())));
    port.and_then(|at| host.get(..at)).unwrap_or(host).to_ascii_lowercase()
}

fn gitlab(environment: CiVariables) -> Surroundings {
    let target = environment("CI_MERGE_REQUEST_PROJECT_ID");
    let source = environment("CI_MERGE_REQUEST_SOURCE_PROJECT_ID");
    Surroundings {
        api: Some(environment("CI_API_V4_URL").unwrap_or_else(|| "https://gitlab.com/api/v4".to_owned())),
        number: environment("CI_MERGE_REQUEST_IID").and_then(|number| number.parse().ok()),
        // In a merged results pipeline, the build's commit is a temporary merge.
        head: environment("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA").or_else(|| environment("CI_COMMIT_SHA")),
        credential: token(CodeHost::Gitlab, environment, &["GITLAB_TOKEN"]),
        from_fork: source.is_some() && source != target,
        repository: target.or_else(|| environment("CI_PROJECT_ID")),
        source: None,
    }
}

fn bitbucket(environment: CiVariables) -> Surroundings {
    let names = environment("BITBUCKET_WORKSPACE").zip(environment("BITBUCKET_REPO_SLUG"));
    let basic = environment("BITBUCKET_USERNAME").zip(environment("BITBUCKET_APP_PASSWORD"));
    let basic = basic.map(|(user, password)| Credential::Basic { user, password: Secret::new(password.trim()) });
    Surroundings {
        api: Some("https://api.bitbucket.org/2.0".to_owned()),
        repository: names.map(|(workspace, name)| format!("{workspace}/{name}")),
        number: environment("BITBUCKET_PR_ID").and_then(|number| number.parse().ok()),
        head: environment("BITBUCKET_COMMIT"),
        credential: token(CodeHost::Bitbucket, environment, &["BITBUCKET_TOKEN"]).or(basic),
        ..Surroundings::default()
    }
}

fn azure(environment: CiVariables) -> Surroundings {
    let names = environment("SYSTEM_TEAMPROJECTID")
        .or_else(|| environment("SYSTEM_TEAMPROJECT"))
        .zip(environment("BUILD_REPOSITORY_ID"));
    Surroundings {
        api: environment("SYSTEM_COLLECTIONURI"),
        repository: names.map(|(project, repository)| format!("{project}/{repository}")),
        number: environment("SYSTEM_PULLREQUEST_PULLREQUESTID").and_then(|number| number.parse().ok()),
        head: environment("SYSTEM_PULLREQUEST_SOURCECOMMITID"),
        credential: token(CodeHost::Azure, environment, &["SYSTEM_ACCESSTOKEN", "AZURE_DEVOPS_EXT_PAT"]),
        from_fork: environment("SYSTEM_PULLREQUEST_ISFORK").is_some_and(|it| it.eq_ignore_ascii_case("true")),
        source: None,
    }
}

/// Reads the environment of Gitea and Forgejo runners, which set the variables of GitHub.
fn gitea(environment: CiVariables, event: Option<&Value>) -> Surroundings {
    let server = environment("GITHUB_SERVER_URL").filter(|server| server != "https://github.com");
    let below_server = server.map(|server| format!("{}/api/v1", server.trim_end_matches('/')));
    Surroundings {
        api: environment("GITEA_API_URL").or(below_server),
        credential: token(CodeHost::Gitea, environment, &["GITEA_TOKEN", "FORGEJO_TOKEN", "GITHUB_TOKEN"]),
        source: None,
        ..github(environment, event)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn with(variables: &'static [(&'static str, &'static str)]) -> impl Fn(&str) -> Option<String> {
        move |wanted| variables.iter().find(|(name, _)| *name == wanted).map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn a_pull_request_of_github_names_its_own_head_and_not_the_merge() {
        let environment = with(&[("GITHUB_REPOSITORY", "acme/infra"), ("GITHUB_SHA", "fffffff")]);
        let head = json!({ "sha": "aaaaaaa", "repo": { "full_name": "someone/infra" } });
        let event = json!({ "pull_request": { "number": 7, "head": head } });
        let found = surroundings(CodeHost::Github, &environment, Some(&event));
        assert_eq!((found.number, found.head.as_deref()), (Some(7), Some("aaaaaaa")));
        assert_eq!(found.api.as_deref(), Some("https://api.github.com"));
        assert!(found.from_fork);
    }

    #[test]
    fn a_token_goes_to_an_interface_of_its_own_server_only() {
        let stray = |server: &'static str, api: &str| {
            let environment = move |name: &str| (name == "GITHUB_SERVER_URL").then(|| server.to_owned());
            stray_interface(CodeHost::Github, &environment, api).is_some()
        };
        for (server, api) in [
            ("https://github.com", "https://api.github.com"),
            ("https://GHE.example.org", "https://ghe.example.org/api/v3"),
            ("https://acme.ghe.com", "https://api.acme.ghe.com"),
            ("https://ghe.example.org:8443", "https://ghe.example.org:8443/api/v3"),
        ] {
            assert!(!stray(server, api), "{server} {api}");
        }
        for (server, api) in [
            ("https://github.com", "https://evil.example"),
            ("https://github.com", "https://api.github.com.evil.example"),
            ("https://github.com", "https://api.github.com@evil.example"),
            ("https://github.com", "https://evil.example/api.github.com"),
            ("https://github.com", "https://evil.example\\@api.github.com"),
            ("https://ghe.example.org", "https://api.github.com"),
        ] {
            assert!(stray(server, api), "{server} {api}");
        }
        assert!(stray_interface(CodeHost::Github, &with(&[]), "https://evil.example").is_some());
        let gitlab = with(&[("CI_SERVER_URL", "https://gitlab.com")]);
        assert!(stray_interface(CodeHost::Gitlab, &gitlab, "https://evil.example/api/v4").is_some());
        assert!(stray_interface(CodeHost::Gitlab, &gitlab, "https://gitlab.com/api/v4").is_none());
    }

    #[test]
    fn an_issue_is_no_pull_request() {
        let environment = with(&[]);
        let issue = json!({ "issue": { "number": 7 } });
        assert_eq!(surroundings(CodeHost::Github, &environment, Some(&issue)).number, None);
        let pull = json!({ "issue": { "number": 7, "pull_request": {} } });
        assert_eq!(surroundings(CodeHost::Github, &environment, Some(&pull)).number, Some(7));
    }

    #[test]
    fn a_run_after_another_run_says_where_the_change_comes_from() {
        let run = json!({ "head_sha": "aaaaaaa", "head_branch": "more-gpus",
                          "head_repository": { "owner": { "login": "someone" } } });
        let found = surroundings(CodeHost::Github, &with(&[]), Some(&json!({ "workflow_run": run })));
        assert_eq!(found.source, Some(("someone".to_owned(), "more-gpus".to_owned())));
        assert_eq!((found.number, found.head.as_deref()), (None, Some("aaaaaaa")));
    }

    #[test]
    fn a_fork_of_gitlab_is_recognized() {
        let environment = with(&[
            ("CI_MERGE_REQUEST_PROJECT_ID", "1"),
            ("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", "2"),
            ("CI_MERGE_REQUEST_IID", "12"),
        ]);
        let found = surroundings(CodeHost::Gitlab, &environment, None);
        assert_eq!((found.repository.as_deref(), found.number, found.from_fork), (Some("1"), Some(12), true));
        assert_eq!(found.credential, None);
    }

    #[test]
    fn azure_tells_two_kinds_of_tokens_apart() {
        let build = surroundings(CodeHost::Azure, &with(&[("SYSTEM_ACCESSTOKEN", "aaa.bbb.ccc")]), None);
        assert_eq!(build.credential, Some(Credential::Bearer(Secret::new("aaa.bbb.ccc"))));
        let own = surroundings(CodeHost::Azure, &with(&[("AZURE_DEVOPS_EXT_PAT", "abcdef")]), None);
        let basic = Credential::Basic { user: String::new(), password: Secret::new("abcdef") };
        assert_eq!(own.credential, Some(basic));
    }

    #[test]
    fn gitea_is_found_below_its_server() {
        let environment = with(&[("GITHUB_SERVER_URL", "https://git.example.org/"), ("GITHUB_TOKEN", "t0ken")]);
        let found = surroundings(CodeHost::Gitea, &environment, None);
        assert_eq!(found.api.as_deref(), Some("https://git.example.org/api/v1"));
        assert_eq!(found.credential, Some(Credential::Token(Secret::new("t0ken"))));
    }
}
