//! A script in place of the opencode program.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use perfxpert_schemas::ErrorObject;
use perfxpert_schemas::tools::agent::run::{ProviderName, RunMode};
use serde_json::{Value, json};

use crate::fake::*;
use crate::{RunOutcome, Runtime};

/// Writes a program that records its surroundings beside itself and then does what `body` says.
fn program(folder: &Path, body: &str) -> PathBuf {
    let path = folder.join("opencode");
    let here = folder.display();
    let script = format!(
        "#!/bin/sh\ncat > {here}/stdin\necho \"$@\" > {here}/args\npwd > {here}/cwd\nenv > {here}/env\n{body}\n"
    );
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

async fn ask(
    folder: &Path,
    body: &str,
    more: &[(&str, &str)],
    limit: Duration,
) -> Result<RunOutcome, ErrorObject> {
    let program = program(folder, body).display().to_string();
    let mut variables = vec![
        ("PERFXPERT_OPENCODE_PATH", program.as_str()),
        ("PATH", "/usr/bin:/bin"),
        ("ANTHROPIC_API_KEY", KEY),
    ];
    variables.extend(more.iter().copied());
    let mut settings = settings(&variables);
    settings.budgets.attempt_time = Some(limit);
    let runtime = Runtime::new(settings);
    let (pack, lexicon, roots, toolbox) = (pack(), lexicon(), roots(), EchoBox::default());
    let plan = runtime.preflight(&ask_for(ProviderName::OpenCode))?;
    runtime.run(&plan, &request(&pack, &lexicon, &roots), &toolbox, &cx()).await
}

fn event(value: &Value) -> String {
    format!("cat <<'END'\n{value}\nEND")
}

fn good_event() -> String {
    event(&json!({"type": "text", "part": {"text": good().to_string()}}))
}

#[tokio::test]
async fn json_lines_are_read_and_noise_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let finish = event(&json!({"type": "step_finish", "part": {"tokens": {"input": 11, "output": 7}}}));
    let body = format!("echo noise\n{}\necho '{{\"type\":\"other\"}}'\n{finish}", good_event());
    let outcome = ask(folder.path(), &body, &[], Duration::from_secs(20)).await.unwrap();
    assert_eq!(outcome.narrative.as_deref(), Some(GOOD_TEXT));
    assert_eq!(outcome.run.mode, RunMode::Model);
    let tokens = outcome.run.tokens.unwrap();
    assert_eq!((tokens.input, tokens.output), (11, 7));
    assert_eq!(outcome.run.notices[0].code, "no_token_limit");
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(read("args").trim(), "run --format json --title perfxpert");
    let stdin = read("stdin");
    assert!(stdin.starts_with("[system]\n") && stdin.contains("\n\n[user]\n"));
    assert!(stdin.contains("Answer with this JSON object only"));
    assert!(!Path::new(read("cwd").trim()).exists(), "the temporary folder is gone");
    let environment = read("env");
    assert!(environment.contains("PERFXPERT_IN_OPENCODE_SESSION=1"));
    assert!(
        environment.contains(r#"OPENCODE_CONFIG_CONTENT={"permission":"deny","share":"disabled","mcp":{}}"#)
    );
    assert!(!environment.contains("PERFXPERT_OPENCODE_PATH"));
    assert!(environment.contains("ANTHROPIC_API_KEY"), "it may need the vendor's key");
}

#[tokio::test]
async fn a_pinned_model_keeps_its_prefix() {
    let folder = tempfile::tempdir().unwrap();
    let more = [("PERFXPERT_AGENTS_MODEL_OPENCODE", "anthropic/claude-x")];
    ask(folder.path(), &good_event(), &more, Duration::from_secs(20)).await.unwrap();
    let args = std::fs::read_to_string(folder.path().join("args")).unwrap();
    assert!(args.trim().ends_with("--model anthropic/claude-x"), "{args}");
}

#[tokio::test]
async fn failures_of_the_program() {
    let error = |value: Value| event(&json!({"type": "error", "error": value}));
    for (body, outcome, said) in [
        (error(json!({"name": "ProviderAuthError", "data": {"message": "no login"}})), "auth", "no login"),
        (error(json!({"name": "APIError", "data": {"message": "busy", "statusCode": 402}})), "quota", "busy"),
        (error(json!({"name": "Strange", "data": {"message": "odd"}})), "fatal", "odd"),
        ("echo 'it broke' >&2\nexit 1".to_owned(), "fatal", "it broke"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let run = ask(folder.path(), &body, &[], Duration::from_secs(20)).await.unwrap().run;
        assert_eq!((run.attempts[0].outcome.as_str(), run.attempts[0].message.as_str()), (outcome, said));
    }
    let folder = tempfile::tempdir().unwrap();
    let outcome = ask(folder.path(), "true", &[], Duration::from_secs(20)).await.unwrap();
    assert!(outcome.warnings[1].contains("(bad_body)") || outcome.warnings[0].contains("(bad_body)"));
}

#[tokio::test]
async fn a_program_that_hangs_dies_with_its_group() {
    let folder = tempfile::tempdir().unwrap();
    let body = format!("sleep 300 &\necho $! > {}/child\nwait", folder.path().display());
    let started = Instant::now();
    let run = ask(folder.path(), &body, &[], Duration::from_secs(2)).await.unwrap().run;
    assert_eq!(run.attempts[0].outcome.as_str(), "timeout");
    assert!(started.elapsed() < Duration::from_secs(5));
    let child = std::fs::read_to_string(folder.path().join("child")).unwrap();
    let gone = || {
        let status = std::fs::read_to_string(format!("/proc/{}/stat", child.trim())).unwrap_or_default();
        status.is_empty() || status.contains(") Z ")
    };
    for _ in 0..20 {
        if gone() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the grandchild still runs after 1 s");
}

#[tokio::test]
async fn no_program_and_its_own_session() {
    let runtime = Runtime::new(settings(&[("PATH", "/nonexistent")]));
    let error = runtime.preflight(&ask_for(ProviderName::OpenCode)).unwrap_err();
    assert_eq!(error.details["sub_kind"], "auth");
    assert_eq!(
        error.message,
        "LLM auth failed for opencode. Check the opencode program on PATH is set correctly."
    );
    for (name, value) in
        [("PERFXPERT_IN_OPENCODE_SESSION", "true"), ("PERFXPERT_IN_AGENT_SESSION", "opencode")]
    {
        let runtime = Runtime::new(settings(&[(name, value)]));
        let mut choice = ask_for(ProviderName::OpenCode);
        choice.provider = Some("claude-code".to_owned());
        assert_eq!(runtime.preflight(&choice).unwrap_err().details["sub_kind"], "recursion");
    }
}
