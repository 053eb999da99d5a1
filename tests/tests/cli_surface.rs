//! The command line as a process: help, errors, exit codes, progress, signals and what reaches a terminal.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use perfxpert_tests::process::{Home, programs, ran, wait};
use serde_json::{Value, json};

#[test]
fn help_is_narrow_and_ends_with_two_examples() {
    let home = Home::new();
    let root = home.run(&[]);
    assert_eq!((root.code, root.stderr.as_str()), (0, ""));
    assert_eq!(root.stdout, home.run(&["--help"]).stdout);
    assert_eq!(root.stdout, home.run(&["help"]).stdout);
    let names: Vec<&str> = root
        .stdout
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .map(|line| line.split_whitespace().next().unwrap())
        .collect();
    let order = [
        "analyze",
        "diff",
        "ci",
        "init",
        "doctor",
        "config",
        "providers",
        "mcp",
        "call",
        "tools",
        "demo",
        "completions",
    ];
    let expected: Vec<&str> = order.into_iter().filter(|name| names.contains(name)).collect();
    assert_eq!(names, expected, "commands stand in their order, and no other");
    for name in names {
        let help = home.run(&[name, "--help"]);
        assert_eq!(help.code, 0, "{name}");
        assert_eq!(help.stdout, home.run(&["help", name]).stdout);
        assert!(help.stdout.lines().all(|line| line.chars().count() <= 100), "{name}");
        let tail: Vec<&str> = help.stdout.trim_end().lines().rev().take(3).collect();
        assert_eq!(tail[2], "Examples:", "{name}");
        assert!(tail[..2].iter().all(|line| line.starts_with("  perfxpert ")), "{name}: {tail:?}");
    }
    assert_eq!(home.run(&["--version"]).stdout, format!("perfxpert {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn every_mistake_is_one_line_and_exit_2() {
    let home = Home::new();
    home.file("t.db", "x");
    for (words, line) in [
        (&["anlyze"][..], "anlyze: unknown command. Did you mean analyze?"),
        (&["analyze", "--formt", "json"], "--formt: unknown option for analyze. Did you mean --format?"),
        (&["analyze"], "analyze: nothing to analyse. Pass -i TRACE.db, --source-dir DIR, or both."),
        (
            &["analyze", "-i", "trace.db"],
            "trace.db does not exist. Check the path; rocprofv3 writes <dir>/<host>/<pid>_results.db.",
        ),
        (&["analyze", "-i", "*.rpd"], "*.rpd does not exist. Nothing matches this pattern."),
        (&["analyze", "-i", "-"], "-i: a database cannot be read from stdin. Give the path of a .db file."),
        (&["-o", "x", "analyze"], "option '-o' goes after the command: perfxpert analyze … -o NAME"),
        (
            &["analyze", "-i", "t.db", "--top-kernels", "0"],
            "--top-kernels: 0 is out of range. Write a whole number from 1 to 1000.",
        ),
        (
            &["analyze", "-i", "t.db", "--min-duration", "5%"],
            "--min-duration: '5%' is not a number. Write 5, not 5%.",
        ),
        (
            &["analyze", "-i", "t.db", "--format", "jsn"],
            "--format: 'jsn' is not one of text, json, markdown, webview. Did you mean json?",
        ),
        (
            &["analyze", "-i", "t.db", "--format", "json", "--format", "json"],
            "--format: given twice. Give it once.",
        ),
        (
            &["analyze", "-i", "t.db", "--format"],
            "--format: a value is missing. See perfxpert analyze --help.",
        ),
        (
            &["analyze", "-i", "t.db", "-q", "-v"],
            "--quiet and --verbose cannot be used together. Choose one.",
        ),
        (
            &["analyze", "-i", "t.db", "--llm-strict"],
            "--llm-strict: has no effect without --llm. Add --llm PROVIDER or leave it out.",
        ),
        (
            &["analyze", "-i", "t.db", "--llm-local"],
            "--llm-local: unknown option for analyze. Use --llm ollama.",
        ),
        (
            &["analyze", "-i", "t.db", "--format", "json", "--wide"],
            "--wide: only --format text has columns. Leave --wide out.",
        ),
        (
            &["analyze", "-i", "t.db", "-d", "r", "-o", "/a"],
            "-o: '/a' is absolute, but -d gives a folder. Leave -d out or give a relative name.",
        ),
        (&["proposals"], "proposals: unknown command. See perfxpert --help."),
        (&["config"], "config: an action is missing. Use one of show, get, set, unset, path."),
        (
            &["completions", "tcsh"],
            "SHELL: 'tcsh' is not one of bash, zsh, fish, powershell, elvish. Use one of these.",
        ),
    ] {
        let ran = home.run(words);
        assert_eq!(ran.code, 2, "{words:?}: {ran:?}");
        assert_eq!(ran.stderr, format!("perfxpert: error: {line}\n"), "{words:?}");
        assert_eq!(ran.stdout, "", "{words:?}");
    }
    assert_eq!(home.listing(), ["t.db"], "a refused command leaves nothing behind");
}

#[test]
fn bad_variables_are_refused_by_the_commands_that_read_them() {
    let words = ["analyze", "-i", "t.db"];
    for (name, value, line) in [
        (
            "PERFXPERT_ADVANCED_RECS",
            "maybe",
            "PERFXPERT_ADVANCED_RECS: 'maybe' is neither true nor false. Set it to 1 or 0.",
        ),
        (
            "PERFXPERT_REDACT_PATHS",
            "2",
            "PERFXPERT_REDACT_PATHS: '2' is neither true nor false. Set it to a value such as false.",
        ),
        (
            "PERFXPERT_JSON_ERRORS",
            "perhaps",
            "PERFXPERT_JSON_ERRORS: 'perhaps' is neither true nor false. Set it to 1 or 0.",
        ),
        (
            "PERFXPERT_PROGRESS",
            "loud",
            "PERFXPERT_PROGRESS: 'loud' is not one of auto, plain, off. Use one of these.",
        ),
    ] {
        let home = Home::with_fake_server().set(name, value);
        home.file("t.db", "x");
        let ran = home.run(&words);
        assert_eq!((ran.code, ran.stderr), (2, format!("perfxpert: error: {line}\n")), "{name}");
        assert_eq!(home.run(&["--help"]).code, 0);
    }
}

#[test]
fn errors_are_json_when_asked_for() {
    let home = Home::new();
    for words in
        [&["analyze", "-i", "trace.db", "--json-errors"][..], &["analyze", "--json-errors", "-i", "trace.db"]]
    {
        let ran = home.run(words);
        assert_eq!(
            ran.stderr,
            "{\"error\":{\"kind\":\"file_not_found\",\"message\":\"trace.db does not exist.\",\"hint\":\"Check the path; \
             rocprofv3 writes <dir>/<host>/<pid>_results.db.\",\"path\":\"trace.db\",\"exit_code\":2}}\n"
        );
    }
    let ran = home.run(&["analyze", "--formt", "--json-errors"]);
    let error: Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!(error["error"]["kind"], "usage");
    assert_eq!(error["error"]["did_you_mean"], "--format");
    assert_eq!(error["error"]["field"], "--formt");
}

#[test]
fn exit_codes_follow_the_kind() {
    let home = Home::with_fake_server();
    home.file("t.db", "x");
    for (kind, code) in [
        ("invalid_argument", 2),
        ("unknown_name", 2),
        ("file_not_found", 2),
        ("not_a_database", 2),
        ("not_rocpd", 2),
        ("unreadable", 2),
        ("empty_trace", 2),
        ("provider", 2),
        ("no_evidence", 1),
        ("timeout", 1),
        ("internal", 1),
    ] {
        let error = json!({ "kind": kind, "message": "It is so.", "hint": "Do this." });
        let question = format!("refuse {error}");
        let ran = home.run(&["analyze", "-i", "t.db", "--format", "json", "--prompt", &question]);
        assert_eq!(ran.code, code, "{kind}");
        let expected =
            if kind == "provider" { "⚠ It is so.\n" } else { "perfxpert: error: It is so. Do this.\n" };
        assert_eq!(ran.stderr, expected, "{kind}");
    }
    assert_eq!(home.listing(), ["t.db"]);
}

#[test]
fn a_server_that_does_not_start_or_dies_is_our_failure() {
    let home = Home::with_fake_server().set("PERFXPERT_DEBUG", "1");
    home.file("t.db", "x");
    let ran = home.run(&["analyze", "-i", "t.db", "--prompt", "die"]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.stderr.starts_with("perfxpert: error: The analysis server ended early. Run perfxpert doctor.\n"),
        "{ran:?}"
    );
    assert!(ran.stderr.contains("  cause: last words of the server\n"), "{ran:?}");
    let ran = Home::new().set("PERFXPERT_MCP_BIN", "/bin/false").run(&["tools", "list"]);
    assert_eq!(ran.stderr, "perfxpert: error: the analysis server did not start. Run perfxpert doctor.\n");
    assert_eq!(ran.code, 1);
}

#[test]
fn the_root_agent_is_asked_for_what_the_options_say() {
    let home = Home::with_fake_server();
    home.file("a.db", "x");
    home.file("b.db", "x");
    home.file("att/stats_1.csv", "x");
    let ran = home.run(&[
        "analyze",
        "-i",
        "a.db",
        "b.db",
        "--att-dir",
        "att",
        "--top-kernels",
        "7",
        "--min-duration",
        "2.5",
        "--strict",
        "--arch",
        "gfx942",
        "--prompt",
        "echo",
        "--format",
        "json",
        "-o",
        "-",
        "--redact-paths",
        "--baseline",
        "a.db",
    ]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let asked: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(asked["database_path"], "a.db");
    assert_eq!(asked["airgap"], false);
    assert_eq!(asked["provider"], Value::Null);
    let expected = json!({
        "database_paths": ["a.db", "b.db"], "baseline_paths": ["a.db"], "att_dir": "att", "gfx_id": "gfx942",
        "top_kernels": 7, "min_duration": 2500.0, "advanced": false, "redact_paths": true, "allow_partial": false,
        "detail": "full",
    });
    assert_eq!(asked["options"], expected);
}

#[test]
fn airgap_wins_over_a_provider_and_says_so() {
    for (variable, config, why) in [
        ("1", "", Some("PERFXPERT_AIRGAP")),
        ("maybe", "", Some("PERFXPERT_AIRGAP")),
        ("", "airgap: true\n", Some("configuration")),
        ("no", "airgap: true\n", None),
    ] {
        let home = Home::with_fake_server().set("PERFXPERT_AIRGAP", variable);
        home.file("t.db", "x");
        let config = home.file("config.yaml", config);
        let ran = home.run(&[
            "analyze",
            "-i",
            "t.db",
            "--llm",
            "ollama",
            "--prompt",
            "echo",
            "--format",
            "json",
            "-o",
            "-",
            "--progress",
            "off",
            "--config",
            config.to_str().unwrap(),
        ]);
        assert_eq!(ran.code, 0, "{ran:?}");
        let asked: Value = serde_json::from_str(&ran.stdout).unwrap();
        match why {
            Some(why) => {
                assert_eq!(
                    ran.stderr,
                    format!("perfxpert: warning: air-gap is on ({why}); --llm ollama is ignored\n")
                );
                assert_eq!((&asked["provider"], &asked["airgap"]), (&Value::Null, &json!(true)));
            }
            None => {
                assert_eq!(ran.stderr, "");
                assert_eq!((&asked["provider"], &asked["airgap"]), (&json!("ollama"), &json!(false)));
            }
        }
    }
}

#[test]
fn a_credential_reaches_the_server_and_nothing_else() {
    let secret = "sk-secret-0123456789";
    let home = Home::with_fake_server().set("ANTHROPIC_API_KEY", "another");
    home.file("t.db", "x");
    let key = home.file("key", &format!("{secret}\nrest\n"));
    let from_file = format!("@{}", key.display());
    for given in [secret, &from_file] {
        let ran = home.run(&[
            "analyze",
            "-i",
            "t.db",
            "--llm",
            "anthropic",
            "--llm-api-key",
            given,
            "--prompt",
            "key",
            "--format",
            "json",
            "-o",
            "-",
            "-vv",
        ]);
        assert_eq!(serde_json::from_str::<Value>(&ran.stdout).unwrap(), json!({ "length": secret.len() }));
        assert!(
            ran.stderr.contains("warning: --llm-api-key is used instead of ANTHROPIC_API_KEY"),
            "{ran:?}"
        );
        assert!(!ran.stderr.contains(secret), "{ran:?}");
    }
    // Not inherited from outside.
    let home = Home::with_fake_server().set("PERFXPERT_CLI_LLM_API_KEY", secret);
    home.file("t.db", "x");
    let ran = home.run(&["analyze", "-i", "t.db", "--prompt", "key", "--format", "json", "-o", "-"]);
    assert_eq!(serde_json::from_str::<Value>(&ran.stdout).unwrap(), json!({ "length": null }));
}

#[test]
fn a_run_has_five_phases_in_order() {
    let home = Home::with_fake_server();
    home.file("t.db", "x");
    let words = ["analyze", "-i", "t.db", "--prompt", "echo", "--format", "json", "-o", "-"];
    assert_eq!(home.run(&words).stderr, "", "nothing in a pipe without a model");
    let expected = "[perfxpert] entering root\n[perfxpert] exit root\n[perfxpert] deterministic analysis: running\n\
                    [perfxpert] deterministic analysis: done\n[perfxpert] report\n";
    for _ in 0..10 {
        let ran = home.run(&[&words[..], &["--progress", "plain"]].concat());
        assert_eq!(ran.stderr, expected);
    }
    assert_eq!(home.run(&[&words[..], &["--llm", "ollama"]].concat()).stderr, expected);
    assert_eq!(home.run(&[&words[..], &["--llm", "ollama", "--no-progress"]].concat()).stderr, "");
    assert_eq!(home.run(&[&words[..], &["--progress", "plain", "-q"]].concat()).stderr, "");
}

#[test]
fn verdicts_of_the_report_become_exit_codes() {
    let home = Home::with_fake_server();
    home.file("t.db", "x");
    let run = |report: &Value, more: &[&str]| {
        let question = format!("answer {report}");
        home.run(
            &[&["analyze", "-i", "t.db", "--prompt", &question, "--format", "json", "-o", "-"], more]
                .concat(),
        )
    };
    let medium = json!({ "recommendations": [{ "priority": "LOW" }, { "priority": "MEDIUM" }] });
    assert_eq!(run(&medium, &[]).code, 0);
    assert_eq!(run(&medium, &["--fail-on", "high"]).code, 0);
    assert_eq!(run(&medium, &["--fail-on", "medium"]).code, 1);
    assert_eq!(run(&medium, &["--fail-on", "low"]).code, 1);
    let failed = json!({ "metadata": { "run": { "error": {
        "kind": "provider", "sub_kind": "auth", "message": "LLM auth failed for openai. Check OPENAI_API_KEY is set correctly.",
        "hint": "Set the key." } } }, "recommendations": [{ "priority": "HIGH" }] });
    let ran = run(&failed, &["--fail-on", "high"]);
    assert_eq!(ran.code, 2, "a provider's failure comes first");
    assert_eq!(ran.stderr, "⚠ LLM auth failed for openai. Check OPENAI_API_KEY is set correctly.\n");
    assert!(!ran.stdout.is_empty(), "the report is delivered all the same");
    let warned = json!({ "warning_details": [
        { "severity": "data_loss", "message": "run.db is damaged: 1,204 of about 5,000 dispatches were read." },
        { "severity": "info", "message": "nothing to worry about" }] });
    assert_eq!(
        run(&warned, &[]).stderr,
        "perfxpert: warning: run.db is damaged: 1,204 of about 5,000 dispatches were read.\n"
    );
    assert_eq!(run(&warned, &["-q"]).stderr, "");
    assert_eq!(
        run(&warned, &["--json-errors"]).stderr,
        "{\"warning\":{\"message\":\"run.db is damaged: 1,204 of about 5,000 dispatches were read.\"}}\n"
    );
}

#[test]
fn nothing_active_reaches_a_stream() {
    let home = Home::with_fake_server();
    home.file("t.db", "x");
    let hostile = "k\u{1b}[2J\u{9b}\u{202e}\u{7}\n\u{2066}";
    let report = json!({ "hotspots": [{ "name": hostile }], "warning_details": [{ "severity": "warning", "message": hostile }] });
    let error = json!({ "kind": "internal", "message": hostile, "hint": hostile });
    let (answer, refuse) = (format!("answer {report}"), format!("refuse {error}"));
    let mut streams = Vec::new();
    for question in [&answer, &refuse] {
        for words in [
            &["analyze", "-i", "t.db", "--format", "json", "-o", "-", "--prompt", question][..],
            &["analyze", "-i", "t.db", "--json-errors", "--format", "json", "-o", "-", "--prompt", question],
            &["call", "agent.root", "--user-query", question],
            &["call", "agent.root", "--format", "text", "--user-query", question],
            &["call", "agent.root", "--format", "compact", "--user-query", question],
        ] {
            let ran = home.run(words);
            streams.extend([ran.stdout, ran.stderr]);
        }
    }
    streams.push(home.run(&["analyze", "-i", hostile]).stderr);
    for stream in streams {
        let active = |c: char| {
            c.is_control() && c != '\n'
                || ('\u{202a}'..='\u{202e}').contains(&c)
                || ('\u{2066}'..='\u{2069}').contains(&c)
        };
        assert!(!stream.contains(active), "{stream:?}");
    }
}

#[test]
fn a_reader_may_go_away() {
    let home = Home::with_fake_server();
    home.file("t.db", "x");
    let program = programs().join("perfxpert");
    let line = format!(
        "{} analyze -i t.db --prompt large --format json -o - | head -1; echo ${{PIPESTATUS[0]}}",
        program.display()
    );
    let mut shell = Command::new("bash");
    let template = home.command("perfxpert", &[]);
    shell.args(["-c", &line]).current_dir(home.work()).env_clear();
    shell.envs(template.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let ran = ran(shell.stdin(Stdio::null()).output().ok());
    assert_eq!(ran.stdout, "{\n0\n");
    assert_eq!(ran.stderr, "");
}

#[cfg(unix)]
#[test]
fn a_signal_ends_a_long_run_and_its_child() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let home = Home::with_fake_server();
        home.file("t.db", "x");
        let mut child = home.start(&[
            "analyze",
            "-i",
            "t.db",
            "--prompt",
            "slow",
            "--format",
            "json",
            "-o",
            "out",
            "--progress",
            "plain",
        ]);
        let mut stderr = child.stderr.take().unwrap();
        let mut seen = [0; 26];
        stderr.read_exact(&mut seen).unwrap();
        let servers = children(child.id());
        assert_eq!(servers.len(), 1);
        let began = Instant::now();
        let killed =
            Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status().unwrap();
        assert!(killed.success());
        assert_eq!(wait(&mut child, Duration::from_secs(10)), Some(code));
        assert!(began.elapsed() < Duration::from_millis(1500), "{:?}", began.elapsed());
        let mut rest = String::new();
        stderr.read_to_string(&mut rest).unwrap();
        assert!(rest.ends_with("perfxpert: cancelled\n"), "{rest}");
        assert_eq!(home.listing(), ["t.db"]);
        assert!(!std::path::Path::new(&format!("/proc/{}", servers[0])).exists(), "the server is gone");
    }
}

#[cfg(unix)]
#[test]
fn a_killed_command_takes_its_server_with_it() {
    let home = Home::with_fake_server();
    home.file("t.db", "x");
    let mut child = home.start(&["analyze", "-i", "t.db", "--prompt", "slow", "--progress", "plain"]);
    let mut seen = [0; 26];
    child.stderr.take().unwrap().read_exact(&mut seen).unwrap();
    let server = children(child.id())[0];
    child.kill().unwrap();
    child.wait().unwrap();
    let end = Instant::now() + Duration::from_secs(2);
    let lives =
        || std::fs::read_to_string(format!("/proc/{server}/stat")).is_ok_and(|stat| !stat.contains(") Z "));
    while lives() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(!lives(), "the server outlives its client");
}

fn children(parent: u32) -> Vec<u32> {
    let text = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|id| id.parse().ok()).collect()
}

#[test]
fn tools_and_call_speak_for_the_server() {
    let home = Home::new();
    let list = home.run(&["tools", "list"]);
    assert_eq!(list.code, 0);
    let json = home.run(&["tools", "list", "--json"]);
    let rows: Vec<Value> = serde_json::from_str(&json.stdout).unwrap();
    let last = list.stdout.lines().last().unwrap();
    assert!(last.starts_with(&format!("{} tools (", rows.len())), "{last}");
    let names: Vec<&str> = rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    assert_eq!(names, sorted);
    assert!(names.contains(&"arch.lookup_peaks"));
    for spelling in ["arch.lookup_peaks", "arch_lookup_peaks", "perfxpert_arch_lookup_peaks"] {
        let ran = home.run(&["call", spelling, "--gfx-id", "gfx942", "--format", "compact"]);
        assert_eq!(ran.code, 0);
        assert_eq!(ran.stdout.lines().count(), 1);
        // AMD Instinct MI300X: 304 compute units.
        assert_eq!(serde_json::from_str::<Value>(&ran.stdout).unwrap()["cu_count"], 304);
    }
    let ran = home.run(&["call", "arch.lookup_peaks", "--gfx-id", "gfx943"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert_eq!(ran.stderr, "perfxpert: error: No architecture gfx943. Did you mean gfx942?\n");
    let ran = home.run(&["call", "arch.lookup_peak", "--gfx-id", "gfx942"]);
    assert_eq!(ran.stderr, "perfxpert: error: No tool arch.lookup_peak. Did you mean arch.lookup_peaks?\n");
    let ran = home.run(&["call", "arch.lookup_peaks", "--gfxid", "x"]);
    assert_eq!((ran.code, ran.stderr.contains("Did you mean --gfx-id?")), (2, true), "{}", ran.stderr);
    assert_eq!(home.run(&["call", "arch.lookup_peaks", "--args", "-"]).code, 2, "no object on stdin");
    let ran = home.run_with(&["call", "arch.lookup_peaks", "--args", "-"], "{\"gfx_id\":\"gfx90a\"}");
    assert_eq!(serde_json::from_str::<Value>(&ran.stdout).unwrap()["gfx_id"], "gfx90a");
    let schema = home.run(&["tools", "schema", "arch.lookup_peaks"]);
    assert_eq!(serde_json::from_str::<Value>(&schema.stdout).unwrap()["type"], "object");
    let described = home.run(&["tools", "describe", "arch_lookup_peaks"]);
    assert!(described.stdout.contains("perfxpert call arch.lookup_peaks --gfx-id GFX_ID"));
    let timeout =
        Home::with_fake_server().run(&["call", "agent.root", "--user-query", "slow", "--timeout", "0.3"]);
    assert_eq!(
        (timeout.code, timeout.stderr.as_str()),
        (1, "perfxpert: error: Stopped after 0.3 s. Give --timeout a larger number.\n")
    );
}

#[test]
fn completions_come_for_every_shell() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let ran = home.run(&["completions", shell]);
        assert_eq!(ran.code, 0);
        for word in ["analyze", "webview", "claude-desktop"] {
            assert!(ran.stdout.contains(word), "{shell} lacks {word}");
        }
    }
    let script = home.file("script", &home.run(&["completions", "bash"]).stdout);
    assert!(Command::new("bash").arg("-n").arg(script).status().unwrap().success());
}
