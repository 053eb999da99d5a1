//! Whom to ask, in which order, and when the next one is asked.

use std::sync::Arc;

use perfxpert_schemas::tools::agent::run::{ProviderName, RunMode};
use serde_json::{Value, json};

use crate::fake::*;
use crate::{ModelChoice, OnFailure, RunCx};

/// openai first, anthropic next, each with its own script.
async fn chain(
    first: Vec<Answer>,
    second: Vec<Answer>,
    more: &[(&'static str, String)],
) -> (Result<crate::RunOutcome, perfxpert_schemas::ErrorObject>, usize, usize, Vec<String>) {
    chain_with(first, second, more, OnFailure::Fallback).await
}

async fn chain_with(
    first: Vec<Answer>,
    second: Vec<Answer>,
    more: &[(&'static str, String)],
    on_failure: OnFailure,
) -> (Result<crate::RunOutcome, perfxpert_schemas::ErrorObject>, usize, usize, Vec<String>) {
    let (a, b) = (Fake::start(first).await, Fake::start(second).await);
    let mut variables = environment(ProviderName::OpenAi, &a.url);
    variables.extend(environment(ProviderName::Anthropic, &b.url));
    variables.push(("PERFXPERT_LLM_FALLBACK_CHAIN", " anthropic,, openai ,anthropic".to_owned()));
    variables.extend(more.iter().cloned());
    let (runtime, _) = runtime(&variables);
    let (pack, lexicon, roots, toolbox) = (pack(), lexicon(), roots(), EchoBox::default());
    let mut request = request(&pack, &lexicon, &roots);
    request.on_failure = on_failure;
    let phases = Phases::default();
    let cx = RunCx { progress: Some(&phases), ..cx() };
    let outcome = match runtime.preflight(&ask_for(ProviderName::OpenAi)) {
        Ok(plan) => runtime.run(&plan, &request, &toolbox, &cx).await,
        Err(error) => Err(error),
    };
    (outcome, a.seen().len(), b.seen().len(), phases.0.into_inner().unwrap())
}

fn failure(status: u16, code: &str, message: &str) -> Answer {
    Answer::json(status, json!({"error": {"code": code, "message": message}}))
}

fn anthropic_good() -> Vec<Answer> {
    vec![Answer::json(200, reply(ProviderName::Anthropic, &good().to_string(), &[]))]
}

#[tokio::test]
async fn rate_limit_quota_transient_and_timeout_cascade() {
    for (script, kind, status) in [
        (vec![failure(429, "x", "m"); 3], "rate_limit", ", HTTP 429"),
        (vec![failure(429, "insufficient_quota", "m")], "quota", ", HTTP 429"),
        (vec![failure(500, "x", "m"); 3], "transient", ", HTTP 500"),
        (vec![Answer::Hang], "timeout", ""),
    ] {
        let (outcome, _, asked, phases) = chain(script, anthropic_good(), &[]).await;
        let outcome = outcome.unwrap();
        assert_eq!((outcome.run.mode, asked), (RunMode::Model, 1));
        assert_eq!(outcome.run.provider, Some(ProviderName::Anthropic));
        assert_eq!(outcome.run.requested_provider, Some(ProviderName::OpenAi));
        assert_eq!(outcome.warnings, [format!("Provider openai failed ({kind}{status}); used anthropic.")]);
        assert_eq!(
            phases,
            [
                "entering analysis",
                &format!("provider openai failed ({kind}), trying anthropic"),
                "exit analysis"
            ]
        );
        assert_eq!(outcome.run.attempts.len(), 2);
    }
}

#[tokio::test]
async fn auth_and_fatal_stop_the_chain() {
    for (status, outcome_word) in [(401, "auth"), (400, "fatal")] {
        let (outcome, _, asked, _) = chain(vec![failure(status, "x", "m")], anthropic_good(), &[]).await;
        let outcome = outcome.unwrap();
        assert_eq!((outcome.run.mode, asked), (RunMode::Fallback, 0));
        assert_eq!(outcome.run.attempts.len(), 1);
        assert_eq!(outcome.run.error.unwrap().details["sub_kind"], outcome_word);
    }
}

#[tokio::test]
async fn an_exhausted_chain_lists_everyone_as_the_example_shows() {
    let quota = "You exceeded your current quota, please check your plan and billing details.";
    let overloaded = Answer::json(
        529,
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
    );
    let first = vec![failure(429, "insufficient_quota", quota)];
    let (outcome, asked_a, asked_b, _) = chain(first.clone(), vec![overloaded.clone(); 3], &[]).await;
    let outcome = outcome.unwrap();
    assert_eq!((asked_a, asked_b), (1, 3));
    assert_eq!(
        outcome.warnings,
        [
            "LLM providers exhausted: openai -> anthropic. Last error: Overloaded",
            "Provider openai failed (quota, HTTP 429); tried anthropic."
        ]
    );
    let run = serde_json::to_value(&outcome.run).unwrap();
    assert_eq!(
        run["attempts"],
        json!([
            {"provider": "openai", "model": "gpt-4o-mini", "outcome": "quota", "status": 429, "retries": 0,
             "retry_after_s": null, "message": quota},
            {"provider": "anthropic", "model": "claude-sonnet-4-20250514", "outcome": "transient", "status": 529,
             "retries": 2, "retry_after_s": null, "message": "Overloaded"}])
    );
    assert_eq!(
        run["error"],
        json!({"kind": "provider", "message": "LLM providers exhausted: openai -> anthropic. Last error: Overloaded",
               "hint": "Retry later, or call without provider.", "sub_kind": "chain_exhausted",
               "provider": "anthropic", "model": "claude-sonnet-4-20250514"})
    );
    assert_eq!(
        (&run["mode"], &run["provider"], &run["model"]),
        (&json!("fallback"), &Value::Null, &Value::Null)
    );
    let (outcome, ..) = chain_with(first, vec![overloaded; 3], &[], OnFailure::Error).await;
    let error = outcome.unwrap_err();
    assert_eq!(error.details["attempts"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn the_failure_is_the_first_warning_whatever_else_was_noted() {
    let more = [("PERFXPERT_MAX_TOKENS", "many".to_owned())];
    let done = run_with(ProviderName::OpenAi, vec![failure(401, "x", "m")], &more, |_| {}).await;
    let codes: Vec<&str> = done.ok().run.notices.iter().map(|notice| notice.code.as_str()).collect();
    assert_eq!(codes, ["provider_failed", "bad_setting"]);
    assert_eq!(done.ok().warnings[0], "LLM auth failed for openai. Check OPENAI_API_KEY is set correctly.");
}

#[tokio::test]
async fn a_single_providers_error_is_unchanged() {
    let done = run(ProviderName::Anthropic, vec![failure(429, "x", "slow"); 3]).await;
    let error = done.ok().run.error.clone().unwrap();
    assert_eq!(error.details["sub_kind"], "rate_limit");
    assert_eq!(
        error.message,
        "LLM rate limit hit on anthropic. Retry in a minute, or set PERFXPERT_LLM_FALLBACK_CHAIN."
    );
}

#[tokio::test]
async fn without_rate_limit_retries_the_chain_moves_on_at_once() {
    let more = [("PERFXPERT_DISABLE_RATE_LIMIT_RETRY", "1".to_owned())];
    let (outcome, asked, ..) = chain(vec![failure(429, "x", "m")], anthropic_good(), &more).await;
    assert_eq!((outcome.unwrap().run.mode, asked), (RunMode::Model, 1));
}

#[tokio::test]
async fn a_fallback_without_key_is_passed_over_and_recorded() {
    let more = [("ANTHROPIC_API_KEY", String::new())];
    let (outcome, _, asked, _) = chain(vec![failure(429, "insufficient_quota", "m")], vec![], &more).await;
    let run = outcome.unwrap().run;
    assert_eq!(asked, 0);
    assert_eq!(run.attempts[1].outcome.as_str(), "skipped");
    assert_eq!(run.error.unwrap().details["sub_kind"], "quota", "one tried: its own error");
    let more = [("PERFXPERT_LLM_FALLBACK_CHAIN", "gemini".to_owned())];
    let (outcome, asked, ..) = chain(vec![], vec![], &more).await;
    let error = outcome.unwrap_err();
    assert_eq!((error.details["sub_kind"].as_str(), asked), (Some("unknown_provider"), 0));
    assert_eq!(
        error.message,
        "LLM provider 'gemini' is unknown. Choose anthropic, openai, ollama, private or opencode."
    );
}

#[tokio::test]
async fn turns_are_shared_across_hops_and_pins_do_not_leak() {
    let calls = Answer::json(200, reply(ProviderName::OpenAi, "", &[("roofline_classify", json!({}))]));
    let more = [
        ("PERFXPERT_AGENTS_MAX_TURNS", "3".to_owned()),
        ("PERFXPERT_LLM_MODEL", "any-model".to_owned()),
        ("PERFXPERT_AGENTS_MODEL_OPENAI", "openai/own-pin".to_owned()),
    ];
    let first = vec![calls, failure(429, "insufficient_quota", "m")];
    let (outcome, ..) = chain(first, anthropic_good(), &more).await;
    let run = outcome.unwrap().run;
    assert_eq!((run.turns, run.mode), (3, RunMode::Model));
    assert_eq!(run.attempts[0].model.as_deref(), Some("own-pin"));
    assert_eq!(run.attempts[1].model.as_deref(), Some("claude-sonnet-4-20250514"));
    assert_eq!(run.model_source.as_deref(), Some("built-in"));
}

#[tokio::test]
async fn no_provider_no_request_whatever_is_set() {
    let fake = Fake::start(vec![]).await;
    let (runtime, _) = runtime(&environment(ProviderName::Anthropic, &fake.url));
    let (pack, lexicon, roots, toolbox) = (pack(), lexicon(), roots(), EchoBox::default());
    let request = request(&pack, &lexicon, &roots);
    let plan =
        runtime.preflight(&ModelChoice { model: Some("x".to_owned()), ..ModelChoice::default() }).unwrap();
    let outcome = runtime.run(&plan, &request, &toolbox, &cx()).await.unwrap();
    assert_eq!(outcome.run.mode, RunMode::Deterministic);
    assert_eq!(outcome.run.notices[0].code, "model_ignored");
    assert!(fake.seen().is_empty());
}

#[tokio::test]
async fn airgap_excludes_every_provider() {
    for (value, on) in [("1", true), ("true", true), ("maybe", true), ("0", false), ("", false)] {
        let fake =
            Fake::start(vec![Answer::json(200, reply(ProviderName::Ollama, &good().to_string(), &[]))]).await;
        let mut variables = environment(ProviderName::Ollama, &fake.url);
        variables.push(("PERFXPERT_AIRGAP", value.to_owned()));
        let (runtime, _) = runtime(&variables);
        let (pack, lexicon, roots, toolbox) = (pack(), lexicon(), roots(), EchoBox::default());
        let request = request(&pack, &lexicon, &roots);
        let plan = runtime.preflight(&ask_for(ProviderName::Ollama)).unwrap();
        let outcome = runtime.run(&plan, &request, &toolbox, &cx()).await.unwrap();
        assert_eq!((outcome.run.airgap, fake.seen().is_empty()), (on, on), "{value}");
        if on {
            assert_eq!(outcome.run.mode, RunMode::Deterministic);
            assert_eq!(outcome.run.notices[0].code, "airgap_overrides_provider");
        }
    }
    let (runtime, _) = runtime(&[]);
    let choice = ModelChoice { airgap: true, ..ask_for(ProviderName::OpenAi) };
    assert!(!runtime.preflight(&choice).unwrap().uses_model(), "no credential is looked at");
}

#[tokio::test]
async fn parallel_calls_with_different_keys_never_mix() {
    let mut tasks = Vec::new();
    for n in 0..8 {
        tasks.push(tokio::spawn(async move {
            let name = ProviderName::OpenAi;
            let more = [("OPENAI_API_KEY", format!("planted-parallel-key-{n}"))];
            let script = vec![Answer::json(200, reply(name, &good().to_string(), &[]))];
            let done = run_with(name, script, &more, |_| {}).await;
            assert_eq!(done.seen[0].headers["authorization"], format!("Bearer planted-parallel-key-{n}"));
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
}

#[test]
fn a_runtime_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Arc<crate::Runtime>>();
}
