//! Recorded replies, good and hostile: none of them gets a false word into an answer.

use std::path::PathBuf;
use std::sync::Arc;

use perfxpert_schemas::tools::agent::run::{ProviderName, RunMode};
use serde_json::{Value, json};

use crate::fake::*;
use crate::{
    Candidate, ChatRequest, Message, Plan, Recording, ReplayProvider, RunOutcome, Runtime, ToolChoice,
};

const NAME: ProviderName = ProviderName::Anthropic;

fn recording(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/replies");
    std::fs::read_to_string(folder.join(format!("{name}.json"))).unwrap()
}

async fn replay(text: &str) -> (RunOutcome, Vec<(String, Value)>) {
    let provider = Arc::new(ReplayProvider::from_json(NAME, text).unwrap());
    let plan = Plan {
        requested: Some(NAME),
        candidates: vec![Candidate::with_provider(provider, Some("recorded"), "argument")],
        ..Plan::default()
    };
    let runtime = Runtime::new(settings(&[]));
    let (pack, lexicon, roots, toolbox) = (pack(), lexicon(), roots(), EchoBox::default());
    let outcome = runtime.run(&plan, &request(&pack, &lexicon, &roots), &toolbox, &cx()).await.unwrap();
    (outcome, toolbox.calls.into_inner().unwrap())
}

#[tokio::test]
async fn hostile_replies_leave_the_computed_text() {
    for (name, reason) in [
        ("invented_numbers", "number"),
        ("invented_kernels", "name"),
        ("wrong_verdict", "contradicts"),
        ("cites_nothing", "cites_nothing"),
        ("injection_obeyed", "contradicts"),
    ] {
        let (outcome, _) = replay(&recording(name)).await;
        assert_eq!((outcome.run.mode, outcome.narrative), (RunMode::Fallback, None), "{name}");
        let claims = outcome.run.claims.unwrap();
        assert_eq!((claims.kept, claims.reasons.contains_key(reason)), (0, true), "{name}");
    }
    for (name, code) in [
        ("tool_off_allowlist", "tool_violations"),
        ("endless_tool_loop", "budget_turns"),
        ("malformed", "model_malformed"),
        ("refusing", "model_refused"),
        ("failing", "provider_failed"),
    ] {
        let (outcome, _) = replay(&recording(name)).await;
        assert_eq!((outcome.run.mode, outcome.narrative), (RunMode::Fallback, None), "{name}");
        assert_eq!(outcome.run.notices[0].code, code, "{name}");
    }
}

#[tokio::test]
async fn good_words_are_used_and_nothing_else_of_such_a_reply() {
    for name in ["good", "unknown_keys", "ten_tool_calls", "foreign_path"] {
        let (outcome, calls) = replay(&recording(name)).await;
        assert_eq!(outcome.narrative.as_deref(), Some(GOOD_TEXT), "{name}");
        assert_eq!(calls.len(), if name == "ten_tool_calls" { 4 } else { 0 }, "{name}");
    }
}

#[tokio::test]
async fn a_miss_shows_the_hash_and_the_first_difference() {
    let ask = ChatRequest {
        model: Some("recorded".to_owned()),
        system: "another prompt".to_owned(),
        messages: vec![Message::user("x")],
        tools: vec![],
        tool_choice: ToolChoice::Auto,
        max_output_tokens: 2048,
        thinking_tokens: None,
        reply_schema: json!({}),
    };
    let hash = crate::request_sha256(&ask);
    assert_eq!(hash, crate::request_sha256(&ChatRequest { tool_choice: ToolChoice::Submit, ..ask.clone() }));
    let stored = json!([{"request_sha256": "0".repeat(64), "reply": {"text": "x"},
        "request": {"max_output_tokens": 2048, "messages": [], "model": "recorded"}}]);
    let (outcome, _) = replay(&stored.to_string()).await;
    let message = &outcome.run.attempts[0].message;
    assert!(message.starts_with("no recording for request "), "{message}");
    assert!(message.contains("first difference at /messages/0"), "{message}");
    let recordings: Vec<Recording> = serde_json::from_value(stored).unwrap();
    assert_eq!(recordings.len(), 1);
}
