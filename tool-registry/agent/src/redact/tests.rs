//! Secrets in every encoding, paths of every kind, and the way back.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::fake::roots;
use crate::message::{Message, ToolChoice};
use crate::secret::Secret;

const SECRET: &str = "pl@nted/credential \"0123456789\"";

fn identity() -> Identity {
    Identity {
        home: Some("/home/planted-home".to_owned()),
        login: Some("plantedlogin".to_owned()),
        host: Some("plantedhost.example.internal".to_owned()),
    }
}

fn redactor() -> Redactor {
    Redactor::new(Arc::new(Scrubber::new(&[Secret::new(SECRET)])), &roots(), &identity())
}

#[test]
fn a_known_secret_goes_in_every_encoding() {
    let base64 = {
        use base64::Engine as _;
        base64::engine::general_purpose::STANDARD.encode(SECRET)
    };
    let json = serde_json::Value::from(SECRET).to_string();
    let percent = "pl%40nted%2Fcredential%20%220123456789%22";
    for form in [SECRET, &json, percent, &base64, base64.trim_end_matches('=')] {
        let text = redactor().text(&format!("before {form} after"));
        assert!(text.contains("[REDACTED]"), "{form} in {text}");
        assert!(!text.contains("0123456789") && !text.contains(base64.trim_end_matches('=')), "{text}");
    }
}

#[test]
fn the_shapes_of_credentials_go() {
    for text in [
        "sk-ant-api03-abcdefgh",
        "sk-proj-abcdefghijklmnopqrst",
        "sk-abcdefghijklmnopqrst",
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "github_pat_abcdefghijklmnopqrstuv",
        "glpat-abcdefghijklmnopqrst",
        "hf_abcdefghijklmnopqrstuvwxyz012345",
        "xoxb-1234567890-abc",
        "AKIAABCDEFGHIJKLMNOP",
        "AIzaabcdefghijklmnopqrstuvwxyz012345678",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx.c2lnbmF0dXJl",
        "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----",
        "Bearer abcdefghijklmnop",
        "password=hunter2hunter2",
        "API_KEY: \"0123456789\"",
    ] {
        let shown = redactor().text(text);
        assert!(shown.contains("[REDACTED]"), "{text} -> {shown}");
    }
    assert_eq!(redactor().text("http://me:pw@proxy.test/x"), "http://proxy.test/x");
    for text in ["sk-short", "token count 500", "gemm_f16_naive", "the secret: no"] {
        assert_eq!(redactor().text(text), text);
    }
}

#[test]
fn paths_become_tokens_the_same_path_the_same_token() {
    let redactor = redactor();
    let check = |text: &str, shown: &str| assert_eq!(redactor.text(text), shown);
    check("open runs/demo_gemm.db now", "open @db now");
    check("open /home/planted-home/work/runs/demo_gemm.db.", "open @db.");
    check("in /home/planted-home/work/code/src/ops.hip:42", "in @src/src/ops.hip:42");
    check("see /opt/rocm/bin/hipcc and /opt/rocm/bin/hipcc", "see [PATH-1] and [PATH-1]");
    check("C:\\Users\\me\\x.db", "[PATH-2]");
    check("\\\\server\\share\\x", "[PATH-3]");
    check("file:///tmp/a/b", "[PATH-4]");
    check("~/notes.txt", "[PATH-5]");
    check("../../x/y", "[PATH-6]");
    check("https://user:pw@docs.test/a/b?key=1#f", "https://docs.test/a/b");
    check("mail me@example.org from 10.1.2.3 or fe80:0:0:0:1:2:3:4", "mail [EMAIL] from [HOST] or [HOST]");
    check("plantedlogin on plantedhost and plantedhost.example.internal", "[USER] on [HOST] and [HOST]");
    for text in ["636 GB/s", "a/b/c", "#/kernels/0/ai", "~12 %", "void foo<a::b>(int)::~foo", "1/2/3", "k429"]
    {
        check(text, text);
    }
}

#[test]
fn tool_arguments_come_back_as_the_caller_wrote_them_and_nothing_else_opens() {
    let redactor = redactor();
    redactor.text("/etc/passwd and /opt/x/y");
    let restore = |value: serde_json::Value| {
        let mut value = value;
        redactor.restore_arguments(&mut value).map(|()| value).map_err(|_| ())
    };
    assert_eq!(
        restore(json!({"database_path": "@db", "n": 3, "label": "compute"})),
        Ok(json!({"database_path": "runs/demo_gemm.db", "n": 3, "label": "compute"}))
    );
    assert_eq!(
        restore(json!({"database_path": ["@db"]})),
        Ok(json!({"database_path": ["runs/demo_gemm.db"]}))
    );
    assert_eq!(
        restore(json!({"source": "@src/src/ops.hip"})),
        Ok(json!({"source": "/home/planted-home/work/code/src/ops.hip"}))
    );
    for path in [
        "@src/../x",
        "@src//etc/passwd",
        "/etc/passwd",
        "[PATH-1]",
        "@db/x",
        "@baseline",
        "other.db",
        "~/x",
        "../x",
        "file:///etc/passwd",
        "C:\\x\\y",
    ] {
        assert_eq!(restore(json!({"database_path": path})), Err(()), "{path}");
    }
    for text in ["/etc/passwd", "see ../../x", "@src/../x"] {
        assert_eq!(restore(json!({"note": text})), Err(()), "{text}");
    }
}

#[test]
fn a_token_is_put_back_and_a_key_that_looks_like_one_stays() {
    let redactor = redactor();
    let restore = |text: &str| redactor.restore_text(text).map_err(|_| ());
    assert_eq!(restore("in @db and @src/a/b.hip."), Ok("in runs/demo_gemm.db and a/b.hip.".to_owned()));
    assert_eq!(restore("see vgpr_reduction@log"), Ok("see vgpr_reduction@log".to_owned()));
    assert_eq!(restore("see @log"), Err(()));
    assert_eq!(restore("see [PATH-9]"), Err(()));
    assert_eq!(redactor.text("/opt/rocm/bin/x"), "[PATH-1]");
    assert_eq!(restore("see [PATH-1]"), Ok("see /opt/rocm/bin/x".to_owned()));
}

#[test]
fn a_block_that_must_go_back_unchanged_goes_without_when_it_repeats_a_secret() {
    let redactor = redactor();
    let ask = |block: serde_json::Value| {
        let message = Message { role: crate::message::Role::Assistant, parts: vec![Part::Opaque(block)] };
        redactor.outbound(ChatRequest {
            model: None,
            system: String::new(),
            messages: vec![message],
            tools: vec![],
            tool_choice: ToolChoice::None,
            max_output_tokens: 256,
            thinking_tokens: None,
            reply_schema: json!({}),
        })
    };
    let block = json!({"type": "thinking", "thinking": "see /opt/rocm/bin", "signature": "abc"});
    assert_eq!(ask(block.clone()).request().messages[0].parts, [Part::Opaque(block)]);
    assert!(ask(json!({"thinking": SECRET})).request().messages[0].parts.is_empty());
}

#[test]
fn a_login_called_like_one_of_our_tokens_changes_nothing() {
    let identity =
        Identity { login: Some("user".to_owned()), host: Some("path".to_owned()), ..Identity::default() };
    let redactor = Redactor::new(Arc::new(Scrubber::new(&[])), &[], &identity);
    assert_eq!(redactor.text("user at /opt/rocm/x"), "user at [PATH-1]");
}

proptest! {
    #[test]
    fn redacting_twice_is_redacting_once(text in r#"[a-z/~.@:\\ \[\]"'=#0-9-]{0,80}"#) {
        let redactor = redactor();
        let once = redactor.text(&text);
        prop_assert_eq!(redactor.text(&once), once);
    }

    #[test]
    fn redacting_paths_and_secrets_twice_is_redacting_once(
        words in proptest::collection::vec(
            prop_oneof![
                Just("/home/planted-home/x".to_owned()), Just("password=".to_owned()), Just("sk-".to_owned()),
                Just("https://".to_owned()), Just("a@b.c".to_owned()), Just("plantedlogin".to_owned()),
                Just("~/".to_owned()), Just("../".to_owned()), Just("[PATH-1]".to_owned()),
                Just("[REDACTED]".to_owned()), Just("Bearer ".to_owned()), Just("@db".to_owned()),
                "[a-z0-9]{1,12}", Just(" ".to_owned()), Just("/".to_owned()),
            ], 0..12)
    ) {
        let redactor = redactor();
        let once = redactor.text(&words.concat());
        prop_assert_eq!(redactor.text(&once), once);
    }
}
