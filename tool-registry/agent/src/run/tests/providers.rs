//! One row per provider and kind of answer.

use std::time::Duration;

use perfxpert_schemas::tools::agent::run::{ProviderName, RunMode};
use serde_json::{Value, json};

use crate::fake::*;

fn good_script(name: ProviderName) -> Vec<Answer> {
    vec![Answer::json(200, reply(name, &good().to_string(), &[]))]
}

#[tokio::test]
async fn a_text_answer_is_used_and_tokens_are_counted() {
    for name in HTTP {
        let done = run(name, good_script(name)).await;
        let outcome = done.ok();
        assert_eq!(outcome.narrative.as_deref(), Some(GOOD_TEXT), "{name}");
        assert_eq!(outcome.run.mode, RunMode::Model);
        assert_eq!(outcome.run.provider, Some(name));
        let tokens = outcome.run.tokens.unwrap();
        assert_eq!((tokens.input, tokens.output, tokens.estimated), (2310, 188, false));
        assert_eq!(outcome.run.turns, 1);
        assert_eq!(done.attempt(), ("ok".to_owned(), Some(200), 0, String::new()));
        assert_eq!(outcome.run.deterministic_narrative.as_deref(), Some(DETERMINISTIC));
        assert_eq!(done.seen.len(), 1);
    }
}

/// Keys of a body in their order.
fn keys(body: &Value) -> Vec<&str> {
    body.as_object().unwrap().keys().map(String::as_str).collect()
}

#[tokio::test]
async fn the_request_has_each_services_form() {
    let seen = run(ProviderName::Anthropic, good_script(ProviderName::Anthropic)).await.seen.remove(0);
    assert_eq!(seen.path, "/v1/messages");
    assert_eq!(seen.headers["x-api-key"], KEY);
    assert_eq!(seen.headers["anthropic-version"], "2023-06-01");
    assert_eq!(
        keys(&seen.body),
        ["model", "max_tokens", "temperature", "system", "messages", "tools", "tool_choice"]
    );
    assert_eq!(seen.body["tool_choice"], json!({"type": "auto"}));
    assert_eq!(seen.body["model"], "claude-sonnet-4-20250514");
    let tools: Vec<&str> =
        seen.body["tools"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap()).collect();
    assert_eq!(tools, ["regression_identify_hot_kernels", "roofline_classify", "submit_answer"]);

    let seen = run(ProviderName::OpenAi, good_script(ProviderName::OpenAi)).await.seen.remove(0);
    assert_eq!(seen.path, "/v1/chat/completions");
    assert_eq!(seen.headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(
        keys(&seen.body),
        ["model", "max_completion_tokens", "temperature", "stream", "messages", "tools", "tool_choice"]
    );
    assert_eq!(seen.body["stream"], false);

    let seen = run(ProviderName::Private, good_script(ProviderName::Private)).await.seen.remove(0);
    assert_eq!(seen.path, "/v1/chat/completions");
    assert!(keys(&seen.body).contains(&"max_tokens"));
    assert_eq!(seen.body["model"], "house-model");

    let seen = run(ProviderName::Ollama, good_script(ProviderName::Ollama)).await.seen.remove(0);
    assert_eq!(seen.path, "/api/chat");
    assert_eq!(seen.body["options"], json!({"temperature": 0, "num_predict": 2048, "num_ctx": 8192}));
    assert_eq!(keys(&seen.body), ["model", "stream", "options", "messages", "tools"]);
    for name in HTTP {
        let seen = run(name, good_script(name)).await.seen.remove(0);
        assert_eq!(seen.headers["content-type"], "application/json");
        assert_eq!(seen.headers["accept"], "application/json");
        assert!(seen.headers["user-agent"].starts_with("perfxpert/"));
        assert!(seen.headers["accept-encoding"].contains("gzip"));
    }
}

#[tokio::test]
async fn every_kernel_the_model_sees_has_calls_time_and_share() {
    for name in HTTP {
        let seen = run(name, good_script(name)).await.seen.remove(0);
        let messages = seen.body["messages"].as_array().unwrap();
        let content = &messages.last().unwrap()["content"];
        let text = content.as_str().or_else(|| content[0]["text"].as_str()).unwrap();
        let (pack, question) = text.split_once("\nQuestion:").unwrap();
        assert_eq!(question, " ");
        let pack: Value = serde_json::from_str(pack).unwrap();
        let kernels = pack["kernels"].as_array().unwrap();
        assert_eq!(kernels.len(), 1);
        for kernel in kernels {
            assert!(kernel["calls"].is_u64() && kernel["total_duration"].is_u64(), "{kernel}");
            assert!(kernel["pct_of_runtime"].is_f64() && kernel["valu_util"].is_f64(), "{kernel}");
        }
        assert_eq!(pack["database"], "@db");
    }
}

#[tokio::test]
async fn a_tool_call_runs_with_real_paths_and_its_result_goes_back() {
    for name in HTTP {
        let script = vec![
            Answer::json(200, reply(name, "", &[("roofline_classify", json!({"database_path": "@db"}))])),
            Answer::json(200, reply(name, "", &[("submit_answer", good())])),
        ];
        let done = run(name, script).await;
        assert_eq!(done.ok().narrative.as_deref(), Some(GOOD_TEXT), "{name}");
        assert_eq!(done.ok().run.turns, 2);
        assert_eq!(
            done.tools,
            [("roofline.classify".to_owned(), json!({"database_path": "runs/demo_gemm.db"}))]
        );
        assert_eq!(done.ok().run.tool_calls[0].tool, "roofline.classify");
        let second = &done.seen[1].body["messages"];
        let result = second.as_array().unwrap().last().unwrap();
        let content = match name {
            ProviderName::Anthropic => {
                assert_eq!(result["content"][0]["type"], "tool_result");
                assert_eq!(result["content"][0]["tool_use_id"], "toolu_0");
                &result["content"][0]["content"]
            }
            ProviderName::Ollama => {
                assert_eq!(
                    (&result["role"], &result["tool_name"]),
                    (&json!("tool"), &json!("roofline_classify"))
                );
                &result["content"]
            }
            _ => {
                assert_eq!((&result["role"], &result["tool_call_id"]), (&json!("tool"), &json!("call_0")));
                &result["content"]
            }
        };
        // The result passes the same map outward.
        assert_eq!(
            content.as_str().unwrap(),
            r#"{"tool":"roofline.classify","arguments":{"database_path":"@db"}}"#
        );
    }
}

#[tokio::test]
async fn two_calls_one_off_the_allowlist_are_both_answered() {
    for name in HTTP {
        let script = vec![
            Answer::json(200, reply(name, "", &[("roofline_classify", json!({})), ("shell_run", json!({}))])),
            Answer::json(200, reply(name, "", &[("submit_answer", good())])),
        ];
        let done = run(name, script).await;
        assert_eq!(done.ok().run.mode, RunMode::Model, "{name}");
        let calls = &done.ok().run.tool_calls;
        assert_eq!((calls[0].ok, calls[1].ok, calls[1].tool.as_str()), (true, false, "shell_run"));
        let raw = done.seen[1].body.to_string();
        assert!(
            raw.contains("not available: shell_run; available: regression_identify_hot_kernels"),
            "{raw}"
        );
        assert_eq!(done.tools.len(), 1);
    }
}

#[tokio::test]
async fn the_name_of_the_token_limit_adapts_and_is_remembered() {
    for (name, code) in
        [(ProviderName::OpenAi, "max_completion_tokens"), (ProviderName::Private, "max_tokens")]
    {
        let complaint = json!({"error": {"message": format!("Unsupported parameter: '{code}' is not supported with \
            this model."), "type": "invalid_request_error", "param": code, "code": "unsupported_parameter"}});
        let fake = Fake::start(vec![
            Answer::json(400, complaint),
            Answer::json(200, reply(name, &good().to_string(), &[])),
            Answer::json(200, reply(name, &good().to_string(), &[])),
        ])
        .await;
        let (runtime, _) = runtime(&environment(name, &fake.url));
        let (pack, lexicon, roots, toolbox) = (pack(), lexicon(), roots(), EchoBox::default());
        let request = request(&pack, &lexicon, &roots);
        for _ in 0..2 {
            let plan = runtime.preflight(&ask_for(name)).unwrap();
            let outcome = runtime.run(&plan, &request, &toolbox, &cx()).await.unwrap();
            assert_eq!(outcome.run.mode, RunMode::Model);
        }
        let other = if code == "max_tokens" { "max_completion_tokens" } else { "max_tokens" };
        let used: Vec<bool> = fake.seen().iter().map(|seen| seen.body.get(other).is_some()).collect();
        assert_eq!(used, [false, true, true], "one adapted request, the next call starts adapted");
    }
}

#[tokio::test]
async fn a_refused_temperature_is_dropped_once() {
    let openai = json!({"error": {"message": "Unsupported value: 'temperature' does not support 0 with this model. \
        Only the default (1) value is supported.", "type": "invalid_request_error", "param": "temperature",
        "code": "unsupported_value"}});
    let anthropic = json!({"type": "error", "error": {"type": "invalid_request_error",
        "message": "`temperature` is deprecated for this model."}});
    for (name, complaint) in [(ProviderName::OpenAi, openai), (ProviderName::Anthropic, anthropic)] {
        let mut script = vec![Answer::json(400, complaint)];
        script.extend(good_script(name));
        let done = run(name, script).await;
        assert_eq!(done.ok().run.mode, RunMode::Model);
        assert_eq!(done.seen.len(), 2);
        assert!(
            done.seen[0].body.get("temperature").is_some() && done.seen[1].body.get("temperature").is_none()
        );
        assert_eq!(done.attempt().2, 0, "an adaptation is no retry");
    }
}

#[tokio::test]
async fn without_tools_the_answer_comes_as_text() {
    for (name, message) in [
        (
            ProviderName::Ollama,
            json!({"error": "registry.ollama.ai/library/gemma:latest does not support tools"}),
        ),
        (
            ProviderName::Private,
            json!({"object": "error", "message": "\"auto\" tool choice requires \
            --enable-auto-tool-choice and --tool-call-parser to be set", "type": "BadRequestError", "code": 400}),
        ),
    ] {
        let mut script = vec![Answer::json(400, message)];
        script.extend(good_script(name));
        let done = run(name, script).await;
        assert_eq!(done.ok().narrative.as_deref(), Some(GOOD_TEXT), "{name}");
        let body = &done.seen[1].body;
        assert!(body.get("tools").is_none() && body.get("tool_choice").is_none());
        assert!(
            body["messages"][0]["content"].as_str().unwrap().contains("Answer with this JSON object only")
        );
        assert_eq!(body.get("format").is_some(), name == ProviderName::Ollama);
    }
}

#[tokio::test]
async fn another_bad_request_is_fatal_at_once() {
    for name in HTTP {
        let done =
            run(name, vec![Answer::json(400, json!({"error": {"message": "nope", "type": "x"}}))]).await;
        assert_eq!(done.attempt(), ("fatal".to_owned(), Some(400), 0, "nope".to_owned()), "{name}");
        assert_eq!(done.seen.len(), 1);
        let outcome = done.ok();
        assert_eq!((outcome.run.mode, outcome.narrative.as_deref()), (RunMode::Fallback, None));
        assert_eq!(outcome.warnings, [format!("LLM request failed on {name}: nope")]);
    }
}

#[tokio::test]
async fn a_token_limit_above_the_models_is_one_clear_error() {
    for (name, body) in [
        (
            ProviderName::OpenAi,
            json!({"error": {"message": "max_tokens is too large: 32768. This model supports at \
            most 16384 completion tokens, whereas you provided 32768.", "type": "invalid_request_error",
            "param": "max_tokens", "code": "invalid_value"}}),
        ),
        (
            ProviderName::Anthropic,
            json!({"type": "error", "error": {"type": "invalid_request_error",
            "message": "max_tokens: 32768 > 8192, which is the maximum allowed number of output tokens"}}),
        ),
    ] {
        let done = run(name, vec![Answer::json(400, body)]).await;
        assert_eq!(done.seen.len(), 1, "no storm");
        assert_eq!(done.attempt().0, "fatal");
        let error = done.ok().run.error.clone().unwrap();
        assert_eq!(error.details["sub_kind"], "fatal");
        assert!(error.hint.contains("PERFXPERT_MAX_TOKENS"), "{}", error.hint);
        assert!(done.ok().narrative.is_none());
    }
}

/// One answer and what becomes of it: outcome, requests seen.
async fn check(name: ProviderName, status: u16, body: Value, outcome: &str, requests: usize) {
    let script = vec![Answer::json(status, body); requests.max(1)];
    let done = run(name, script).await;
    let attempt = done.attempt();
    assert_eq!(
        (attempt.0.as_str(), attempt.1, done.seen.len()),
        (outcome, Some(status), requests),
        "{name} {status}"
    );
}

#[tokio::test]
async fn statuses_and_codes_decide() {
    for name in HTTP {
        let message = |kind: &str| json!({"error": {"type": kind, "message": "said"}});
        check(name, 401, message("x"), "auth", 1).await;
        check(name, 403, message("x"), "auth", 1).await;
        let region = json!({"error": {"code": "unsupported_country_region_territory", "message": "said"}});
        check(name, 403, region, "fatal", 1).await;
        check(name, 402, message("x"), "quota", 1).await;
        check(name, 429, json!({"error": {"code": "insufficient_quota", "message": "said"}}), "quota", 1)
            .await;
        check(name, 413, message("x"), "fatal", 1).await;
        check(name, 404, message("x"), "fatal", 1).await;
        check(name, 501, message("x"), "fatal", 1).await;
        for status in [408, 409, 425, 500, 502, 503, 504, 529] {
            check(name, status, message("x"), "transient", 3).await;
        }
        check(name, 429, message("x"), "rate_limit", 3).await;
    }
    let credit = json!({"type": "error", "error": {"type": "invalid_request_error",
        "message": "Your credit balance is too low to access the Anthropic API."}});
    check(ProviderName::Anthropic, 400, credit.clone(), "quota", 1).await;
    check(ProviderName::OpenAi, 400, credit, "fatal", 1).await;
    check(ProviderName::Private, 400, json!({"detail": "no"}), "fatal", 1).await;
}

#[tokio::test]
async fn words_that_look_like_statuses_change_nothing() {
    for text in ["kernel k429 failed", "500 tokens", "timeout of 401", "rate limit? quota!"] {
        check(ProviderName::OpenAi, 400, json!({"error": {"message": text}}), "fatal", 1).await;
    }
}

#[tokio::test]
async fn a_stated_wait_is_kept_in_every_form() {
    let body = json!({"error": {"type": "rate_limit_error", "message": "slow down"}});
    let date = httpdate::fmt_http_date(std::time::UNIX_EPOCH + Duration::from_secs(WALL_S + 7));
    for (header, value, waits) in [
        ("retry-after", "2", vec![2000, 2000]),
        ("retry-after", date.as_str(), vec![7000, 7000]),
        ("retry-after-ms", "1500", vec![1500, 1500]),
        ("x-none", "1", vec![500, 1000]),
    ] {
        for name in HTTP {
            let done = run(name, vec![Answer::with(429, header, value, body.clone()); 3]).await;
            let waited: Vec<u128> = done.waits.iter().map(Duration::as_millis).collect();
            assert_eq!(waited, waits, "{name} {header}");
            assert_eq!((done.attempt().0.as_str(), done.attempt().2), ("rate_limit", 2));
        }
    }
}

#[tokio::test]
async fn a_wait_of_an_hour_is_not_waited() {
    for name in HTTP {
        let done =
            run(name, vec![Answer::with(429, "retry-after", "3600", json!({"error": {"message": "x"}}))])
                .await;
        assert_eq!((done.waits.len(), done.seen.len()), (0, 1));
        let run = &done.ok().run;
        assert_eq!(run.attempts[0].retry_after_s, Some(3600));
        assert_eq!(run.error.as_ref().unwrap().details["retry_after_s"], 3600);
    }
}

#[tokio::test]
async fn a_wait_past_the_deadline_is_not_waited() {
    let more = [("PERFXPERT_AGENTS_MAX_SECONDS", "5".to_owned())];
    let script = vec![Answer::with(429, "retry-after", "10", json!({"error": {"message": "x"}}))];
    let done = run_with(ProviderName::OpenAi, script, &more, |_| {}).await;
    assert_eq!((done.waits.len(), done.attempt().0.as_str()), (0, "rate_limit"));
}

#[tokio::test]
async fn the_second_try_recovers_and_the_services_own_word_counts() {
    for name in HTTP {
        let mut script = vec![Answer::json(503, json!({"error": {"message": "busy"}}))];
        script.extend(good_script(name));
        let done = run(name, script).await;
        assert_eq!((done.ok().run.mode, done.attempt().2), (RunMode::Model, 1));
        let done = run(name, vec![Answer::with(500, "x-should-retry", "false", json!({}))]).await;
        assert_eq!((done.seen.len(), done.attempt().0.as_str()), (1, "transient"));
        let mut script = vec![Answer::with(501, "x-should-retry", "true", json!({}))];
        script.extend(good_script(name));
        assert_eq!(run(name, script).await.seen.len(), 2);
    }
}

#[tokio::test]
async fn broken_connections_are_told_apart() {
    for name in HTTP {
        let done = run(name, vec![Answer::Close, Answer::Close, Answer::Close]).await;
        assert_eq!((done.attempt().0.as_str(), done.seen.len()), ("transient", 3), "{name}");
        assert!(done.ok().warnings[0].contains("(reset)"), "{:?}", done.ok().warnings);
        let done = run(name, vec![Answer::Half("{\"a\"".to_owned()); 3]).await;
        assert!(done.ok().warnings[0].contains("(truncated)"), "{:?}", done.ok().warnings);
    }
    let done = run(ProviderName::OpenAi, vec![Answer::Hang]).await;
    assert_eq!((done.attempt().0.as_str(), done.seen.len()), ("timeout", 1));
    assert_eq!(
        done.ok().warnings,
        ["LLM timed out on openai after 3 s. Retry, use another --llm, or run without --llm."]
    );
    // A port nobody listens on.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let more = [("OPENAI_BASE_URL", format!("http://{free}/v1"))];
    let done = run_with(ProviderName::OpenAi, vec![], &more, |_| {}).await;
    assert!(done.ok().warnings[0].contains("(connect)"), "{:?}", done.ok().warnings);
}

#[tokio::test]
async fn a_slow_stream_ends_at_the_attempt_limit() {
    let started = std::time::Instant::now();
    let done = run(ProviderName::Anthropic, vec![Answer::Slow(Duration::from_millis(100))]).await;
    assert_eq!(done.attempt().0, "timeout");
    assert!(started.elapsed() < Duration::from_secs(4));
}

#[tokio::test]
async fn a_good_status_with_a_bad_body() {
    for name in HTTP {
        let full = |body: &str| Answer::Full(200, vec![], body.to_owned());
        let cut = reply(name, "x", &[]).to_string();
        let done = run(name, vec![full(&cut[..cut.len() / 2]); 3]).await;
        assert!(done.ok().warnings[0].contains("(bad_body)"), "{name} {:?}", done.ok().warnings);
        let done = run(name, vec![full("{}"); 3]).await;
        assert!(done.ok().warnings[0].contains("(bad_body)"), "{name} {:?}", done.ok().warnings);
        let done = run(name, vec![full("<html>hello</html>")]).await;
        assert_eq!((done.attempt().0.as_str(), done.seen.len()), ("fatal", 1));
        let done = run(
            name,
            vec![Answer::json(200, json!({"error": {"code": "insufficient_quota", "message": "m"}}))],
        );
        assert_eq!(done.await.attempt().0, "quota");
        let done = run(name, vec![Answer::json(200, json!({"error": {"message": "m"}}))]).await;
        assert_eq!(done.attempt().0, "fatal");
    }
}

#[tokio::test]
async fn a_redirect_is_never_followed() {
    let other = Fake::start(vec![]).await;
    for name in HTTP {
        let done = run(name, vec![Answer::with(302, "location", &other.url, json!({}))]).await;
        assert_eq!((done.attempt().0.as_str(), done.attempt().1), ("fatal", Some(302)));
    }
    assert!(other.seen().is_empty());
}

#[tokio::test]
async fn a_body_past_4_mib_is_refused() {
    let big = format!("{{\"x\":\"{}\"}}", "y".repeat(5 << 20));
    let done = run(ProviderName::OpenAi, vec![Answer::Full(200, vec![], big)]).await;
    assert_eq!(done.attempt().0, "fatal");
    assert!(done.attempt().3.contains("4 MiB"));
}

#[tokio::test]
async fn thinking_goes_back_unchanged_and_is_never_text() {
    let block =
        json!({"type": "thinking", "thinking": "secret thoughts about /opt/rocm/bin", "signature": "sig=="});
    let mut first = reply(ProviderName::Anthropic, "", &[("roofline_classify", json!({}))]);
    first["content"].as_array_mut().unwrap().insert(0, block.clone());
    let second = Answer::json(200, reply(ProviderName::Anthropic, "", &[("submit_answer", good())]));
    let done = run_with(ProviderName::Anthropic, vec![Answer::json(200, first), second], &[], |request| {
        request.thinking_tokens = Some(2048);
    })
    .await;
    assert_eq!(done.ok().run.mode, RunMode::Model);
    let body = &done.seen[0].body;
    assert_eq!(body["thinking"], json!({"type": "enabled", "budget_tokens": 2048}));
    assert_eq!((&body["max_tokens"], body.get("temperature")), (&json!(4096), None));
    assert_eq!(done.seen[1].body["messages"][1]["content"][0], block);
    assert!(!format!("{:?}", done.ok()).contains("secret thoughts"));
}

#[tokio::test]
async fn thinking_falls_back_to_effort_and_then_to_none() {
    let complaint = |what: &str| {
        Answer::json(
            400,
            json!({"type": "error", "error": {"type": "invalid_request_error", "message": what}}),
        )
    };
    let mut script = vec![complaint("\"thinking.type.enabled\" is not supported for this model.")];
    script.extend(good_script(ProviderName::Anthropic));
    let done =
        run_with(ProviderName::Anthropic, script, &[], |request| request.thinking_tokens = Some(5000)).await;
    let body = &done.seen[1].body;
    assert_eq!(
        (&body["thinking"], &body["output_config"]),
        (&json!({"type": "adaptive"}), &json!({"effort": "medium"}))
    );
    let mut script = vec![
        complaint("thinking.type.enabled is not supported"),
        complaint("thinking: not available for this model"),
    ];
    script.extend(good_script(ProviderName::Anthropic));
    let done =
        run_with(ProviderName::Anthropic, script, &[], |request| request.thinking_tokens = Some(5000)).await;
    assert!(done.seen[2].body.get("thinking").is_none());
    assert_eq!(done.ok().run.mode, RunMode::Model);
}

#[tokio::test]
async fn refusal_pause_and_length() {
    let mut refusal = reply(ProviderName::Anthropic, "no", &[]);
    refusal["stop_reason"] = json!("refusal");
    let mut filtered = reply(ProviderName::OpenAi, "no", &[]);
    filtered["choices"][0]["finish_reason"] = json!("content_filter");
    for (name, body) in [(ProviderName::Anthropic, refusal), (ProviderName::OpenAi, filtered)] {
        let done = run(name, vec![Answer::json(200, body)]).await;
        assert_eq!((done.attempt().0.as_str(), done.ok().run.mode), ("refused", RunMode::Fallback));
        assert!(done.ok().run.error.is_none(), "a refusal is no error");
    }
    let mut pause = reply(ProviderName::Anthropic, "thinking on", &[]);
    pause["stop_reason"] = json!("pause_turn");
    let mut script = vec![Answer::json(200, pause)];
    script.extend(good_script(ProviderName::Anthropic));
    let done = run(ProviderName::Anthropic, script).await;
    assert_eq!((done.ok().run.mode, done.ok().run.turns), (RunMode::Model, 2));
    assert_eq!(done.seen[1].body["messages"][1]["content"][0]["text"], "thinking on");

    for (name, limit) in [
        (ProviderName::Anthropic, "/max_tokens"),
        (ProviderName::OpenAi, "/max_completion_tokens"),
        (ProviderName::Ollama, "/options/num_predict"),
    ] {
        let mut cut = reply(name, "{\"claims\": [", &[]);
        match name {
            ProviderName::Anthropic => cut["stop_reason"] = json!("max_tokens"),
            ProviderName::Ollama => cut["done_reason"] = json!("length"),
            _ => cut["choices"][0]["finish_reason"] = json!("length"),
        }
        let mut script = vec![Answer::json(200, cut.clone())];
        script.extend(good_script(name));
        let done = run(name, script).await;
        assert_eq!(done.ok().run.mode, RunMode::Model);
        let limits: Vec<u64> =
            done.seen.iter().map(|s| s.body.pointer(limit).unwrap().as_u64().unwrap()).collect();
        assert_eq!(limits, [2048, 4096], "{name}");
        let done = run(name, vec![Answer::json(200, cut); 2]).await;
        assert_eq!((done.attempt().0.as_str(), done.seen.len()), ("malformed", 2));
    }
}

#[tokio::test]
async fn ollama_says_how_to_get_a_missing_model_and_reads_text_arguments() {
    let done =
        run(ProviderName::Ollama, vec![Answer::json(404, json!({"error": "model 'llama3.1' not found"}))])
            .await;
    assert_eq!(done.attempt().0, "fatal");
    assert_eq!(done.ok().run.error.as_ref().unwrap().hint, "Run `ollama pull llama3.1`.");
    let text = good().to_string();
    let body = json!({"message": {"content": "", "tool_calls": [{"function": {"name": "submit_answer", "arguments": text}}]}});
    let done = run(ProviderName::Ollama, vec![Answer::json(200, body)]).await;
    assert_eq!(done.ok().run.mode, RunMode::Model);
    assert!(done.ok().run.tokens.unwrap().estimated);
}

#[tokio::test]
async fn private_picks_the_only_model_and_refuses_to_guess() {
    for (ids, ok) in [(vec![], false), (vec!["only"], true), (vec!["a", "b"], false)] {
        let list: Vec<Value> = ids.iter().map(|id| json!({"id": id})).collect();
        let script = vec![
            Answer::json(200, json!({"data": list})),
            Answer::json(200, reply(ProviderName::Private, &good().to_string(), &[])),
        ];
        let more = [("PERFXPERT_LLM_PRIVATE_MODEL", String::new())];
        let done = run_with(ProviderName::Private, script, &more, |_| {}).await;
        assert_eq!(done.seen[0].path, "/v1/models");
        if ok {
            assert_eq!(done.seen[1].body["model"], "only");
            assert_eq!(done.ok().run.attempts[0].model.as_deref(), Some("only"));
        } else {
            assert_eq!(done.attempt().0, "fatal");
            assert_eq!(done.ok().run.error.as_ref().unwrap().hint, "Set PERFXPERT_LLM_PRIVATE_MODEL.");
            assert_eq!(done.attempt().3.contains("a, b"), ids.len() == 2);
        }
    }
}

#[tokio::test]
async fn private_headers_are_merged_and_may_replace_the_credential() {
    let headers =
        json!({"Authorization": "Basic planted-basic-value", "X-Team": 7, "X-Flag": true}).to_string();
    let more = [("PERFXPERT_LLM_PRIVATE_HEADERS", headers)];
    let done = run_with(ProviderName::Private, good_script(ProviderName::Private), &more, |_| {}).await;
    let seen = &done.seen[0].headers;
    assert_eq!(seen["authorization"], "Basic planted-basic-value");
    assert_eq!((seen["x-team"].as_str(), seen["x-flag"].as_str()), ("7", "true"));
    for bad in
        ["{planted", r#"{"Host": "planted-x"}"#, r#"{"X": ["planted-x"]}"#, "{\"X\": \"planted\\u0000x\"}"]
    {
        let more = [("PERFXPERT_LLM_PRIVATE_HEADERS", bad.to_owned())];
        let done = run_with(ProviderName::Private, vec![], &more, |_| {}).await;
        let error = done.outcome.unwrap_err();
        assert!(error.message.contains("PERFXPERT_LLM_PRIVATE_HEADERS"), "{}", error.message);
        assert!(!error.message.contains("planted"), "{}", error.message);
        assert_eq!(error.details["sub_kind"], "fatal");
    }
}

#[tokio::test]
async fn a_self_signed_certificate_needs_its_ca_or_the_switch() {
    let script = good_script(ProviderName::Private);
    let folder = tempfile::tempdir().unwrap();
    for mode in ["plain", "bundle", "off"] {
        let (fake, pem) = tls_fake(script.clone()).await;
        let bundle = folder.path().join("ca.pem");
        std::fs::write(&bundle, pem).unwrap();
        let mut more = vec![("PERFXPERT_LLM_PRIVATE_URL", format!("{}/v1", fake.url))];
        match mode {
            "bundle" => more.push(("PERFXPERT_LLM_CA_BUNDLE", bundle.display().to_string())),
            "off" => more.push(("PERFXPERT_LLM_PRIVATE_VERIFY_SSL", "false".to_owned())),
            _ => {}
        }
        let done = run_with(ProviderName::Private, vec![], &more, |_| {}).await;
        let run = &done.ok().run;
        if mode == "plain" {
            assert_eq!(done.attempt().0, "fatal", "{:?}", done.attempt());
            assert!(run.error.as_ref().unwrap().hint.contains("PERFXPERT_LLM_CA_BUNDLE"));
            assert!(fake.seen().is_empty());
        } else {
            assert_eq!(run.mode, RunMode::Model, "{mode} {:?}", done.attempt());
        }
        let warned =
            run.notices.iter().any(|n| n.code == "tls_unverified" && n.message.contains("127.0.0.1"));
        assert_eq!(warned, mode == "off");
    }
    let more = [("PERFXPERT_LLM_CA_BUNDLE", folder.path().join("none.pem").display().to_string())];
    let error = run_with(ProviderName::Private, vec![], &more, |_| {}).await.outcome.unwrap_err();
    assert!(error.message.contains("PERFXPERT_LLM_CA_BUNDLE") && !error.message.contains("none.pem"));
}

#[tokio::test]
async fn a_proxy_is_used_for_other_machines_only() {
    let proxy = Fake::start(good_script(ProviderName::Ollama)).await;
    let url = proxy.url.replace("http://", "http://me:planted-proxy-pw@");
    let more = [
        ("PERFXPERT_LLM_LOCAL_URL", "http://models.example.test:11434".to_owned()),
        ("PERFXPERT_LLM_OLLAMA_KEY", String::new()),
        ("HTTP_PROXY", url.clone()),
    ];
    let done = run_with(ProviderName::Ollama, vec![], &more, |_| {}).await;
    assert_eq!(done.ok().run.mode, RunMode::Model, "{:?}", done.attempt());
    assert_eq!(proxy.seen()[0].path, "http://models.example.test:11434/api/chat");
    let done =
        run_with(ProviderName::Ollama, good_script(ProviderName::Ollama), &[("HTTP_PROXY", url)], |_| {})
            .await;
    assert_eq!((done.ok().run.mode, done.seen.len(), proxy.seen().len()), (RunMode::Model, 1, 1));
}
