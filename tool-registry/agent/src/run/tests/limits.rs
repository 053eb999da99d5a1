//! Budgets, repairs, sessions, cancellation and the preview.

use std::time::{Duration, Instant};

use perfxpert_schemas::ErrorKind;
use perfxpert_schemas::tools::agent::run::{ProviderName, RunMode};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::fake::*;
use crate::{RunCx, RunOutcome, Runtime};

const NAME: ProviderName = ProviderName::OpenAi;

fn call(n: usize) -> Answer {
    Answer::json(200, reply(NAME, "", &[("roofline_classify", json!({"n": n}))]))
}

fn done_answer() -> Answer {
    Answer::json(200, reply(NAME, &good().to_string(), &[]))
}

#[tokio::test]
async fn turns_reached_and_one_below() {
    let more = [("PERFXPERT_AGENTS_MAX_TURNS", "3".to_owned())];
    let done = run_with(NAME, (0..9).map(call).collect(), &more, |_| {}).await;
    let run = &done.ok().run;
    assert_eq!((run.turns, run.mode, done.seen.len()), (3, RunMode::Fallback, 3));
    assert_eq!(run.notices[0].code, "budget_turns");
    assert!(run.error.is_none(), "a used-up budget is no error");
    assert_eq!(
        done.seen[2].body["tool_choice"]["function"]["name"], "submit_answer",
        "the last turn must submit"
    );
    assert_eq!(done.seen[1].body["tool_choice"], "auto");
    let done = run_with(NAME, vec![call(0), call(1), done_answer()], &more, |_| {}).await;
    assert_eq!((done.ok().run.turns, done.ok().run.mode), (3, RunMode::Model));
}

#[tokio::test]
async fn an_endless_tool_loop_ends_at_the_budget() {
    let done = run(NAME, (0..30).map(call).collect()).await;
    assert_eq!((done.ok().run.turns, done.ok().run.mode), (10, RunMode::Fallback));
    assert_eq!(done.ok().narrative, None);
}

#[tokio::test]
async fn tool_calls_per_turn_and_per_run() {
    let ten: Vec<(&str, Value)> = (0..10).map(|n| ("roofline_classify", json!({"n": n}))).collect();
    let done = run(NAME, vec![Answer::json(200, reply(NAME, "", &ten)), done_answer()]).await;
    assert_eq!(done.tools.len(), 4);
    let calls = &done.ok().run.tool_calls;
    assert_eq!((calls.len(), calls.iter().filter(|call| call.ok).count()), (10, 4));
    let four = |turn: usize| {
        let calls: Vec<(&str, Value)> =
            (0..4).map(|n| ("roofline_classify", json!({"n": turn * 4 + n}))).collect();
        Answer::json(200, reply(NAME, "", &calls))
    };
    let mut script: Vec<Answer> = (0..6).map(four).collect();
    script.push(done_answer());
    assert_eq!(run(NAME, script).await.tools.len(), 20);
}

#[tokio::test]
async fn an_identical_call_gets_the_earlier_result_and_a_failure_is_shown() {
    let done = run(NAME, vec![call(1), call(1), done_answer()]).await;
    assert_eq!((done.tools.len(), done.ok().run.tool_calls.len()), (1, 2));
    let failing = Answer::json(200, reply(NAME, "", &[("roofline_classify", json!({"fail": 1}))]));
    let done = run(NAME, vec![failing, done_answer()]).await;
    assert_eq!((done.ok().run.mode, done.ok().run.tool_calls[0].ok), (RunMode::Model, false));
    assert!(done.seen[1].body.to_string().contains("It failed."));
}

#[tokio::test]
async fn three_calls_off_the_allowlist_end_the_run() {
    let off = Answer::json(200, reply(NAME, "", &[("shell_run", json!({}))]));
    let done = run(NAME, vec![off.clone(), off.clone(), off.clone(), done_answer()]).await;
    assert_eq!((done.ok().run.mode, done.seen.len()), (RunMode::Fallback, 3));
    assert_eq!(done.ok().run.notices[0].code, "tool_violations");
    let done = run(NAME, vec![off.clone(), off, done_answer()]).await;
    assert_eq!(done.ok().run.mode, RunMode::Model);
}

#[tokio::test]
async fn two_repairs_then_malformed() {
    let text = |text: &str| Answer::json(200, reply(NAME, text, &[]));
    let done = run(NAME, vec![text("Hello."), text("{\"claims\": 1}"), done_answer()]).await;
    assert_eq!((done.ok().run.mode, done.ok().run.turns), (RunMode::Model, 3));
    let last = done.seen[2].body["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    assert_eq!(
        last,
        "The answer cannot be used: `claims` must be an array. Correct it and call `submit_answer` with the whole answer."
    );
    assert_eq!(done.seen[1].body["tool_choice"]["function"]["name"], "submit_answer");
    let done = run(NAME, vec![text("a"), text("b"), text("c"), done_answer()]).await;
    assert_eq!((done.attempt().0.as_str(), done.seen.len()), ("malformed", 3));
    assert_eq!((done.ok().run.mode, done.ok().run.error.is_none()), (RunMode::Fallback, true));
}

#[tokio::test]
async fn a_bad_submission_is_answered_as_the_result_of_its_call() {
    let name = ProviderName::Anthropic;
    let bad =
        Answer::json(200, reply(name, "", &[("submit_answer", json!({})), ("roofline_classify", json!({}))]));
    let good = Answer::json(200, reply(name, "", &[("submit_answer", good())]));
    let done = run(name, vec![bad, good]).await;
    assert_eq!(done.ok().run.mode, RunMode::Model);
    assert!(done.tools.is_empty(), "other calls beside a submission are ignored");
    let results = done.seen[1].body["messages"][2]["content"].as_array().unwrap();
    assert_eq!(results.iter().filter(|r| r["type"] == "tool_result").count(), 2, "every call has its result");
}

async fn in_session(runtime: &Runtime, id: Option<&str>) -> RunOutcome {
    let (pack, lexicon, roots, toolbox) = (pack(), lexicon(), roots(), EchoBox::default());
    let mut request = request(&pack, &lexicon, &roots);
    request.session_id = id;
    let plan = runtime.preflight(&ask_for(NAME)).unwrap();
    runtime.run(&plan, &request, &toolbox, &cx()).await.unwrap()
}

#[tokio::test]
async fn sessions_share_turns_and_tokens() {
    let fake = Fake::start(vec![done_answer(); 9]).await;
    let mut variables = environment(NAME, &fake.url);
    variables.push(("PERFXPERT_MAX_SESSION_TURNS", "2".to_owned()));
    let (runtime, _) = runtime(&variables);
    let first = in_session(&runtime, Some("a")).await;
    let session = first.run.session.unwrap();
    assert_eq!((session.id.as_str(), session.turns_used, session.turns_left), ("a", 1, 1));
    assert_eq!(in_session(&runtime, Some("a")).await.run.mode, RunMode::Model);
    let third = in_session(&runtime, Some("a")).await.run;
    assert_eq!((third.mode, third.notices[0].code.as_str()), (RunMode::Fallback, "budget_turns"));
    assert_eq!(in_session(&runtime, Some("b")).await.run.mode, RunMode::Model);
    let none = in_session(&runtime, None).await.run;
    assert_eq!((none.mode, none.session), (RunMode::Model, None));

    let fake = Fake::start(vec![done_answer(); 9]).await;
    let mut variables = environment(NAME, &fake.url);
    variables.push(("PERFXPERT_MAX_SESSION_TOKENS", "2498".to_owned()));
    let (runtime, _) = crate::fake::runtime(&variables);
    assert_eq!(in_session(&runtime, Some("a")).await.run.mode, RunMode::Model);
    let second = in_session(&runtime, Some("a")).await.run;
    assert_eq!((second.mode, second.notices[0].code.as_str()), (RunMode::Fallback, "budget_tokens"));
}

#[tokio::test]
async fn the_time_of_the_model_part_is_limited() {
    let fake = Fake::start(vec![Answer::Hang]).await;
    let variables = environment(NAME, &fake.url);
    let borrowed: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let mut settings = settings(&borrowed);
    settings.budgets.run_time = Some(Duration::from_millis(300));
    let runtime = Runtime::new(settings);
    let started = Instant::now();
    let run = in_session(&runtime, None).await.run;
    assert!(started.elapsed() < Duration::from_secs(2));
    assert_eq!((run.mode, run.notices[0].code.as_str()), (RunMode::Fallback, "budget_time"));
    assert!(run.error.is_none());
}

#[test]
fn waits_are_45_s_without_progress_and_300_s_with() {
    let budgets = crate::Budgets::default();
    assert_eq!(budgets.model_time(false), Duration::from_secs(45));
    assert_eq!(budgets.model_time(true), Duration::from_secs(300));
}

#[tokio::test]
async fn cancelling_ends_the_call_and_says_exit() {
    let fake = Fake::start(vec![Answer::Hang]).await;
    let (runtime, _) = runtime(&environment(NAME, &fake.url));
    let (pack, lexicon, roots, toolbox) = (pack(), lexicon(), roots(), EchoBox::default());
    let request = request(&pack, &lexicon, &roots);
    let plan = runtime.preflight(&ask_for(NAME)).unwrap();
    let (cancel, phases) = (CancellationToken::new(), Phases::default());
    let cx = RunCx { cancel: cancel.clone(), progress: Some(&phases) };
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(100)).await;
        cancel.cancel();
    });
    let started = Instant::now();
    let error = runtime.run(&plan, &request, &toolbox, &cx).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Cancelled);
    assert!(started.elapsed() < Duration::from_secs(1));
    assert_eq!(phases.0.into_inner().unwrap(), ["entering analysis", "exit analysis"]);
}

#[tokio::test]
async fn the_preview_is_the_first_request_and_connects_to_nobody() {
    for name in HTTP {
        let fake = Fake::start(vec![Answer::json(200, reply(name, &good().to_string(), &[]))]).await;
        let (runtime, _) = runtime(&environment(name, &fake.url));
        let (pack, lexicon, roots, toolbox) = (pack(), lexicon(), roots(), EchoBox::default());
        let mut request = request(&pack, &lexicon, &roots);
        let plan = runtime.preflight(&ask_for(name)).unwrap();
        request.preview = true;
        let previewed = runtime.run(&plan, &request, &toolbox, &cx()).await.unwrap().run.preview.unwrap();
        assert!(fake.seen().is_empty());
        request.preview = false;
        runtime.run(&plan, &request, &toolbox, &cx()).await.unwrap();
        let sent = fake.seen().remove(0);
        assert_eq!(previewed["body"].to_string(), sent.body.to_string(), "{name}");
        assert!(!previewed.to_string().contains(KEY));
        assert!(previewed["url"].as_str().unwrap().ends_with(&sent.path));
    }
}

#[tokio::test]
async fn a_long_tool_result_is_cut_and_says_so() {
    let long = json!({"n": "x\"".repeat(9000)});
    let script = vec![Answer::json(200, reply(NAME, "", &[("roofline_classify", long)])), done_answer()];
    let done = run(NAME, script).await;
    let messages = done.seen[1].body["messages"].as_array().unwrap();
    let content = messages.last().unwrap()["content"].as_str().unwrap();
    assert!(content.chars().count() <= 8000);
    assert_eq!(serde_json::from_str::<Value>(content).unwrap()["truncated"], true);
}

#[tokio::test]
async fn a_large_pack_is_cut_and_its_context_fits() {
    let mut pack = pack();
    let item = pack.evidence[0].clone();
    pack.evidence = (0..500)
        .map(|n| crate::PackEvidence { id: format!("m.x{n}"), label: "l".repeat(400), ..item.clone() })
        .collect();
    let fake =
        Fake::start(vec![Answer::json(200, reply(ProviderName::Ollama, &good().to_string(), &[]))]).await;
    let (runtime, _) = runtime(&environment(ProviderName::Ollama, &fake.url));
    let (lexicon, roots, toolbox) = (lexicon(), roots(), EchoBox::default());
    let plan = runtime.preflight(&ask_for(ProviderName::Ollama)).unwrap();
    runtime.run(&plan, &request(&pack, &lexicon, &roots), &toolbox, &cx()).await.unwrap();
    let body = fake.seen().remove(0).body;
    let text = body["messages"][1]["content"].as_str().unwrap().to_owned();
    assert!(text.chars().count() <= 24_000 + 100);
    assert_eq!(body["options"]["num_ctx"], 16384);
}
