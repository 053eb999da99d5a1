//! Files the command line reads and writes: routing, whole or untouched outputs, configuration, client entries, init.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::fs;
use std::path::Path;

use perfxpert_tests::process::Home;
use serde_json::{Value, json};

const ECHO: [&str; 4] = ["analyze", "--prompt", "echo", "--format"];

#[test]
fn reports_land_where_the_table_says() {
    for (more, file) in [
        (&["json"][..], "results_results.json"),
        (&["json", "-d", "r"], "r/results_results.json"),
        (&["json", "-o", "name"], "name.json"),
        (&["json", "-o", "name.json"], "name.json"),
        (&["json", "-o", "name.js"], "name.js.json"),
        (&["json", "-o", "sub/pr", "-d", "out"], "out/sub/pr.json"),
        (&["json", "-oname", "--output-dir=o2"], "o2/name.json"),
    ] {
        let home = Home::with_fake_server();
        home.file("out/results_results.db", "x");
        let ran = home.run(&[&ECHO[..], more, &["-i", "out/results_results.db"]].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{more:?}: {ran:?}");
        let shown = if file.contains('/') { file.to_owned() } else { format!("./{file}") };
        assert_eq!(ran.stderr, format!("Analysis written to: {shown}\n"));
        let text = fs::read_to_string(home.work().join(file)).unwrap();
        assert!(text.ends_with("}\n") && !text.ends_with("\n\n"));
    }
    let home = Home::with_fake_server();
    home.file("src/a.hip", "x");
    let ran = home.run(&[&ECHO[..], &["json", "--source-dir", "src"]].concat());
    assert_eq!(ran.stderr, "Analysis written to: ./analysis.json\n");
    home.file("run.1/a.db", "x");
    let ran = home.run(&[&ECHO[..], &["json", "-i", "run.1/"]].concat());
    assert_eq!(ran.stderr, "Analysis written to: ./run.1.json\n");
    for more in [&["-o", "-"][..], &["-o", "-", "-d", "x"]] {
        let before = home.listing();
        let ran = home.run(&[&ECHO[..], &["json", "-i", "run.1/a.db"], more].concat());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        assert!(ran.stdout.starts_with('{'));
        assert_eq!(home.listing(), before);
    }
}

#[test]
fn an_output_is_replaced_whole_or_not_touched() {
    let home = Home::with_fake_server();
    home.file("t.db", "x");
    home.file("r.json", "old");
    let words = [&ECHO[..], &["json", "-i", "t.db", "-o", "r"]].concat();
    let kept = home.run(&[&words[..], &["--no-clobber"]].concat());
    assert_eq!(kept.code, 2);
    assert_eq!(fs::read_to_string(home.work().join("r.json")).unwrap(), "old");
    let error = json!({ "kind": "internal", "message": "No.", "hint": "Wait." });
    let question = format!("refuse {error}");
    let failed = home.run(&["analyze", "-i", "t.db", "--format", "json", "-o", "r", "--prompt", &question]);
    assert_eq!(failed.code, 1);
    assert_eq!(fs::read_to_string(home.work().join("r.json")).unwrap(), "old");
    assert_eq!(home.run(&words).code, 0);
    assert!(fs::read_to_string(home.work().join("r.json")).unwrap().starts_with('{'));
    assert_eq!(home.listing(), ["r.json", "t.db"]);
    // An input is never an output, whatever its name.
    home.file("in.json", "database");
    let ran = home.run(&[&ECHO[..], &["json", "-i", "in.json"]].concat());
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("it is an input of this command"), "{ran:?}");
    assert_eq!(fs::read_to_string(home.work().join("in.json")).unwrap(), "database");
    fs::create_dir(home.work().join("folder.json")).unwrap();
    assert_eq!(home.run(&[&ECHO[..], &["json", "-i", "t.db", "-o", "folder"]].concat()).code, 2);
}

#[test]
fn equal_runs_give_equal_bytes() {
    let home = Home::with_fake_server();
    home.file("t.db", "x");
    for words in [
        &["analyze", "-i", "t.db", "--prompt", "echo", "--format", "json", "-o", "-"][..],
        &["tools", "list"],
        &["tools", "describe", "agent.root"],
        &["config", "show", "--sources"],
        &["providers", "list"],
        &["completions", "zsh"],
        &["mcp", "config", "codex"],
    ] {
        let first = home.run(words);
        assert_eq!(first.code, 0, "{words:?}: {first:?}");
        assert_eq!(first.stdout, home.run(words).stdout, "{words:?}");
    }
}

#[test]
fn the_configuration_is_edited_in_place() {
    let home = Home::new();
    let path = home.home().join(".config/perfxpert/config.yaml");
    assert_eq!(home.run(&["config", "path"]).stdout, format!("{}\n", path.display()));
    assert_eq!(home.run(&["config", "set", "provider", "ollama"]).stdout, "set provider=ollama\n");
    assert_eq!(fs::read_to_string(&path).unwrap(), "provider: ollama\n");
    fs::write(&path, "# mine\r\nprovider: ollama   # at home\r\n\r\nfallback_chain:\r\n  - openai\r\n")
        .unwrap();
    assert_eq!(home.run(&["config", "set", "provider", "openai"]).code, 0);
    assert_eq!(home.run(&["config", "set", "airgap", "on"]).stdout, "set airgap=true\n");
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "# mine\r\nprovider: openai   # at home\r\n\r\nfallback_chain:\r\n  - openai\r\nairgap: true\r\n"
    );
    assert_eq!(home.run(&["config", "unset", "fallback_chain"]).stdout, "unset fallback_chain\n");
    assert_eq!(home.run(&["config", "unset", "model"]).stdout, "unset model\n");
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "# mine\r\nprovider: openai   # at home\r\n\r\nairgap: true\r\n"
    );
    assert_eq!(home.run(&["config", "get", "airgap"]).stdout, "true\n");
    let shown = home.run(&["config", "show", "--sources"]).stdout;
    assert!(
        shown.contains("airgap: true # file\n") && shown.contains("max_tokens: 2048 # default\n"),
        "{shown}"
    );
    for (words, line) in [
        (&["config", "set", "modle", "x"][..], "modle: unknown key. Did you mean model?"),
        (
            &["config", "get", "openai_api_key"],
            "openai_api_key: unknown key. Credentials are read from the environment.",
        ),
        (
            &["config", "set", "max_tokens", "0"],
            "max_tokens: '0' is not a whole number from 1 to 32768. Write one of the accepted values.",
        ),
    ] {
        let before = fs::read(&path).unwrap();
        let ran = home.run(words);
        assert_eq!((ran.code, ran.stderr), (2, format!("perfxpert: error: {line}\n")), "{words:?}");
        assert_eq!(fs::read(&path).unwrap(), before);
    }
    fs::write(&path, "airgap: true\nmodle: x\n").unwrap();
    let ran = home.run(&["config", "show"]);
    let expected =
        format!("perfxpert: error: {}:2: unknown key modle. Did you mean model?\n", path.display());
    assert_eq!((ran.code, ran.stderr), (2, expected));
    assert_eq!(
        home.run(&["config", "set", "airgap", "false"]).code,
        2,
        "a file that cannot be read is not rewritten"
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), "airgap: true\nmodle: x\n");
    for words in [&["config", "path"][..], &["--help"], &["completions", "bash"]] {
        assert_eq!(home.run(words).code, 0, "{words:?}");
    }
}

/// Where each client keeps its file below the home, with a file as a user would have it.
const CLIENTS: [(&str, &str, &str); 6] = [
    ("claude-desktop", ".config/Claude/claude_desktop_config.json", "{\n  \"globalShortcut\": \"\"\n}"),
    (
        "codex",
        ".codex/config.toml",
        "model = \"o4\" # best\n\n[mcp_servers.other]\ncommand = \"x\"\nargs = []\n",
    ),
    ("gemini", ".gemini/settings.json", "{\n    \"theme\": \"dark\",\n    \"mcpServers\": {}\n}\n"),
    (
        "opencode",
        ".config/opencode/opencode.json",
        "{\n\t\"$schema\": \"https://opencode.ai/config.json\",\n\t\"mcp\": {\n\t\t\"a\": {\"type\": \"local\", \"command\": [\"x\"]}\n\t}\n}\n",
    ),
    ("vscode", ".config/Code/User/mcp.json", "{\"servers\":{\"a\":{\"command\":\"x\"}},\"inputs\":[]}"),
    (
        "cursor",
        ".cursor/mcp.json",
        "{\r\n  \"mcpServers\": {\r\n    \"a\": { \"command\": \"x\" }\r\n  }\r\n}\r\n",
    ),
];

#[test]
fn an_entry_goes_in_once_and_comes_out_without_a_trace() {
    for (client, file, original) in CLIENTS {
        let home = Home::new();
        let path = home.home().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, original).unwrap();
        let scope = ["--scope", "user"];
        let dry = home.run(&[&["mcp", "install", client, "--dry-run"][..], &scope].concat());
        assert!(dry.code == 0 && dry.stdout.starts_with(&format!("--- ~/{file}\n+++ ~/{file}\n")), "{dry:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), original, "a dry run changes nothing");
        let first = home.run(&[&["mcp", "install", client][..], &scope].concat());
        assert_eq!(first.stdout, format!("installed perfxpert for {client}: ~/{file}\n"), "{first:?}");
        let installed = fs::read_to_string(&path).unwrap();
        assert!(installed.contains("\"mcp\"") && installed.contains("bare"), "{installed}");
        let second = home.run(&[&["mcp", "install", client][..], &scope].concat());
        assert_eq!(second.stdout, format!("already installed: ~/{file}\n"));
        assert_eq!(fs::read_to_string(&path).unwrap(), installed);
        let other = home.run(&[&["mcp", "install", client, "--command", "/other/tool"][..], &scope].concat());
        assert_eq!(other.code, 1, "{client}: {other:?}");
        assert!(other.stderr.contains("/other/tool"), "{other:?}");
        let removed = home.run(&[&["mcp", "uninstall", client][..], &scope].concat());
        assert_eq!(removed.stdout, format!("uninstalled perfxpert for {client}: ~/{file}\n"));
        assert_eq!(fs::read_to_string(&path).unwrap(), original, "{client}");
        let again = home.run(&[&["mcp", "uninstall", client][..], &scope].concat());
        assert_eq!((again.code, again.stdout), (0, format!("not installed: ~/{file}\n")));
        let backup = fs::read_to_string(format!("{}.perfxpert.bak", path.display())).unwrap();
        assert_eq!(backup, original);
    }
}

#[test]
fn claude_code_keeps_a_project_file_and_is_told_by_its_own_command_for_the_user() {
    let home = Home::new();
    let program = perfxpert_tests::process::programs().join("perfxpert");
    let ran = home.run(&["mcp", "install", "claude-code", "--scope", "user"]);
    assert_eq!(
        ran.stdout,
        format!("claude mcp add --scope user perfxpert -- {} mcp --tool-names bare\n", program.display())
    );
    assert_eq!(home.run(&["mcp", "install", "claude-code"]).code, 0);
    let text = fs::read_to_string(home.work().join(".mcp.json")).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["mcpServers"]["perfxpert"]["args"], json!(["mcp", "--tool-names", "bare"]));
}

#[test]
fn a_missing_file_is_shown_as_in_the_example() {
    let home = Home::new();
    let ran = home.run(&["mcp", "install", "cursor", "--dry-run", "--command", "/opt/px/perfxpert"]);
    assert_eq!(
        ran.stdout,
        "--- /dev/null\n+++ ~/.cursor/mcp.json\n@@ -0,0 +1,12 @@\n+{\n+  \"mcpServers\": {\n+    \"perfxpert\": {\n\
         +      \"command\": \"/opt/px/perfxpert\",\n+      \"args\": [\n+        \"mcp\",\n+        \"--tool-names\",\n\
         +        \"bare\"\n+      ]\n+    }\n+  }\n+}\n"
    );
    assert!(!home.home().join(".cursor").exists());
    let ran = home.run(&["mcp", "config", "codex", "--command", "/opt/px/perfxpert-mcp", "--name", "px"]);
    assert_eq!(
        ran.stdout,
        "[mcp_servers.px]\ncommand = \"/opt/px/perfxpert-mcp\"\nargs = [\"--tool-names\", \"bare\"]\n"
    );
    assert_eq!(ran.stderr, "perfxpert: note: goes into ~/.codex/config.toml\n");
}

#[test]
fn a_file_with_comments_is_left_to_its_owner() {
    let home = Home::new();
    let path = home.home().join(".gemini/settings.json");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "{ // mine\n}\n").unwrap();
    let ran = home.run(&["mcp", "install", "gemini"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stdout.starts_with("add this by hand:\n{\n  \"mcpServers\""), "{ran:?}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "{ // mine\n}\n");
}

fn script(folder: &Path, name: &str, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A home whose PATH holds programs that answer like those of an MI300X host.
fn mi300x_host(gpus: usize, framework: &str) -> Home {
    let home = Home::new();
    let agent = "Agent 2\n  Name: gfx942\n  Marketing Name: AMD Instinct MI300X\n  Device Type: GPU\n  Compute Unit: 304";
    script(&home.home(), "rocminfo", &format!("cat <<X\n{}\nX", vec![agent; gpus].join("\n")));
    script(&home.home(), "python3", &format!("echo {framework}"));
    let path = format!("{}:/usr/bin:/bin", home.home().display());
    home.set("PATH", &path)
}

#[test]
fn the_wizard_writes_one_file_and_says_what_it_did() {
    let home = mi300x_host(1, "torch").set("ANTHROPIC_API_KEY", "x");
    let ran = home.run(&["init"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    for part in [
        "== perfxpert init — first-run wizard ==\n\nStep 1/4 — GPU detection\n  detected: gfx942 (MI300X, 304 CU)\n    \
         peak FP32: 163.4 TFLOPS\n    peak HBM : 5.3 TB/s\n\nStep 2/4 — Framework detection\n  source dir: .\n  python deps: \
         PyTorch importable ⇒ framework: PyTorch\n",
        "\nStep 3/4 — Config generation\n  provider  : anthropic\n  airgap    : false\n  max_tokens: 2048\n  target    : \
         ~/.config/perfxpert/config.yaml\n\nStep 4/4 — Suggested first profiling command\n  primary : rocprofv3 --sys-trace \
         -d ./profile_out -- python train.py\n",
        "\nThen:\n  perfxpert analyze -i ./profile_out/*.db --source-dir . --format webview -o report\n\n\
         Wizard complete. Your setup is ready.\n",
    ] {
        assert!(ran.stdout.contains(part), "{part}\nin\n{}", ran.stdout);
    }
    let path = home.home().join(".config/perfxpert/config.yaml");
    let first = fs::read_to_string(&path).unwrap();
    assert!(first.contains("provider: anthropic\n") && !first.contains("model"));
    assert!(home.run(&["init"]).stdout.contains("  result    : no change\n"));
    let asked = home.run_with(&["init", "--provider", "ollama"], "n\n");
    assert!(asked.stdout.contains("-provider: anthropic\n+provider: ollama\n"), "{asked:?}");
    assert!(asked.stdout.contains("  overwrite? [y/N]   result    : kept the existing file\n"), "{asked:?}");
    assert!(asked.stdout.ends_with("Wizard complete. The existing configuration was kept.\n"));
    assert_eq!(fs::read_to_string(&path).unwrap(), first);
    let yes = home.run_with(&["init", "--provider", "ollama"], "yes\n");
    assert!(yes.stdout.contains("updated (backup: ~/.config/perfxpert/config.yaml.bak)"), "{yes:?}");
    assert!(fs::read_to_string(&path).unwrap().contains("provider: ollama\n"));
    assert_eq!(fs::read_to_string(path.with_extension("yaml.bak")).unwrap(), first);
}

#[test]
fn the_wizard_tells_other_machines_apart() {
    let many = mi300x_host(8, "").run(&["init", "--non-interactive"]).stdout;
    assert!(many.contains("  detected: 8 x gfx942 (MI300X, 304 CU)\n"), "{many}");
    assert!(many.contains("  many ranks: mpirun -n 8 rocprofv3 --sys-trace -d ./profile_out -o results_%env{OMPI_COMM_WORLD_RANK}% -- ./your_app\n"));
    assert!(many.contains("  python deps: none found\n"));
    assert!(many.contains("  provider  : none detected (analysis works without one)\n"));
    let none = mi300x_host(0, "cupy").run(&["init", "--non-interactive"]).stdout;
    assert!(
        none.contains("  detected: none\n  hint: pass --arch GFXID when you profile on another machine\n"),
        "{none}"
    );
    assert!(none.contains("-- python run.py\n"));
    let chosen = mi300x_host(1, "").run(&["init", "--non-interactive", "--arch", "gfx90a"]).stdout;
    assert!(chosen.contains("  selected: gfx90a (--arch)\n    peak FP32: "), "{chosen}");
    let unknown = mi300x_host(1, "").run(&["init", "--non-interactive", "--arch", "gfx1234"]).stdout;
    assert!(unknown.contains("    no peak spec available\n"), "{unknown}");
    let off = mi300x_host(1, "")
        .set("PERFXPERT_DISABLE_RUNTIME_GPU_SPECS", "1")
        .run(&["init", "--non-interactive"])
        .stdout;
    assert!(off.contains("  skipped (PERFXPERT_DISABLE_RUNTIME_GPU_SPECS)\n"), "{off}");
}

#[test]
fn the_doctor_finds_what_is_wrong_and_changes_nothing() {
    let home = mi300x_host(1, "")
        .set("PERFXPERT_AIRGAPP", "1")
        .set("PERFXPERT_LLM_THINKING", "many")
        .set("PERFXPERT_LEGACY", "1");
    let config = home.home().join(".config/perfxpert/config.yaml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::write(&config, "nonsense: 1\n").unwrap();
    let cursor = home.home().join(".cursor/mcp.json");
    fs::create_dir_all(cursor.parent().unwrap()).unwrap();
    fs::write(
        &cursor,
        "{\"mcpServers\":{\"perfxpert\":{\"command\":\"/gone/perfxpert\",\"args\":[\"mcp\"]}}}",
    )
    .unwrap();
    let ran = home.run(&["doctor", "--json"]);
    assert_eq!(ran.code, 1);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let check = |id: &str| {
        let rows = report["checks"].as_array().unwrap();
        rows.iter().find(|row| row["id"] == id).unwrap_or_else(|| panic!("no {id}")).clone()
    };
    let ids: Vec<&str> =
        report["checks"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
    let expected = [
        "version",
        "build",
        "mcp_server",
        "tool_list",
        "self_test",
        "config",
        "task_store",
        "providers",
        "opencode",
        "mode",
        "environment",
        "profilers",
        "att_decoder",
        "mcp_clients",
        "gpus",
    ];
    assert_eq!(ids, expected);
    assert_eq!(check("mcp_server")["status"], "ok");
    assert_eq!(check("config")["status"], "fail");
    assert!(check("config")["message"].as_str().unwrap().contains("config.yaml:1: unknown key nonsense"));
    assert_eq!(check("mode")["message"], "Mode: air-gapped (the configuration file cannot be read)");
    let environment = check("environment");
    assert_eq!(environment["status"], "fail");
    let hint = environment["hint"].as_str().unwrap();
    assert!(hint.contains("PERFXPERT_AIRGAPP is unknown, did you mean PERFXPERT_AIRGAP?"), "{hint}");
    assert!(hint.contains("PERFXPERT_LLM_THINKING: 'many' is not a whole number"), "{hint}");
    assert!(hint.contains("PERFXPERT_LEGACY has no effect here"), "{hint}");
    assert_eq!(check("mcp_clients")["status"], "warn");
    assert!(check("mcp_clients")["hint"].as_str().unwrap().contains("/gone/perfxpert does not exist"));
    assert_eq!(check("gpus")["message"], "GPUs: 1 x gfx942 (MI300X, 304 CU)");
    assert_eq!(report["ok"], false);
    let lines = home.run(&["doctor"]);
    assert_eq!(lines.stdout.lines().last(), Some("Issues found"));
    assert!(!home.home().join(".perfxpert").exists());
}

#[test]
fn a_missing_trace_is_named_and_nothing_is_created() {
    let home = Home::new();
    let before = home.listing();
    for words in [
        &["analyze", "-i", "nope.db"][..],
        &["analyze", "-i", "nope.db", "--format", "json", "-d", "new"],
        &["analyze", "--source-dir", "nope.db"],
        &["call", "att.parse_csv", "--args", "{\"path\":\"nope.db\",\"att_dir\":\"nope.db\"}"],
    ] {
        let ran = home.run(words);
        assert_ne!(ran.code, 0, "{words:?}");
        assert_eq!(ran.stdout, "");
        assert_eq!(home.listing(), before, "{words:?}");
    }
    assert!(home.run(&["analyze", "-i", "nope.db"]).stderr.contains("nope.db does not exist"));
}
