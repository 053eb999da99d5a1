//! What is refused before anything is opened, and what counts as configured.

use std::sync::Arc;

use super::*;
use crate::Runtime;
use crate::fake::{ask_for, environment, facts, settings};
use crate::settings::ConfigValues;

fn preflight(environment: &[(&str, &str)], name: ProviderName) -> Result<Plan, ErrorObject> {
    Runtime::new(settings(environment)).preflight(&ask_for(name))
}

#[test]
fn a_missing_credential_has_its_exact_sentence() {
    for (name, what) in [
        (ProviderName::Anthropic, "ANTHROPIC_API_KEY"),
        (ProviderName::OpenAi, "OPENAI_API_KEY"),
        (ProviderName::Private, "PERFXPERT_LLM_PRIVATE_URL and PERFXPERT_LLM_PRIVATE_API_KEY"),
        (ProviderName::OpenCode, "the opencode program on PATH"),
    ] {
        let error = preflight(&[], name).unwrap_err();
        assert_eq!(error.message, format!("LLM auth failed for {name}. Check {what} is set correctly."));
        assert_eq!(error.details["sub_kind"], "auth");
    }
    // The object of the documented example, key by key.
    let error = preflight(&[], ProviderName::Anthropic).unwrap_err();
    assert_eq!(
        serde_json::to_value(&error).unwrap(),
        serde_json::json!({"kind": "provider", "sub_kind": "auth",
            "message": "LLM auth failed for anthropic. Check ANTHROPIC_API_KEY is set correctly.",
            "hint": "Set the key, or call without provider for the deterministic answer.",
            "provider": "anthropic", "model": "claude-sonnet-4-20250514", "attempts": []})
    );
    assert!(preflight(&[], ProviderName::Ollama).is_ok(), "a local server needs no credential");
}

#[test]
fn an_unusable_setting_is_named_and_never_shown() {
    for (name, variable, value) in [
        (ProviderName::Anthropic, "ANTHROPIC_API_KEY", "planted\u{7}key"),
        (ProviderName::Anthropic, "ANTHROPIC_API_KEY", "plantedключ"),
        (ProviderName::Anthropic, "ANTHROPIC_BASE_URL", "planted nonsense"),
        (ProviderName::OpenAi, "OPENAI_BASE_URL", "ftp://planted.test"),
        (ProviderName::OpenAi, "OPENAI_BASE_URL", "http://planted.test/v1"),
        (ProviderName::Private, "PERFXPERT_LLM_PRIVATE_URL", "planted"),
        (ProviderName::Ollama, "PERFXPERT_LLM_LOCAL_URL", "http://planted test"),
    ] {
        let mut variables = environment(name, "https://fine.test");
        variables.retain(|(known, _)| *known != variable);
        variables.push((variable, value.to_owned()));
        let borrowed: Vec<(&str, &str)> =
            variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let error = preflight(&borrowed, name).unwrap_err();
        assert_eq!(error.details["sub_kind"], "fatal", "{value}");
        assert!(error.message.contains(variable) && !error.message.contains("planted"), "{}", error.message);
    }
}

#[test]
fn a_credential_in_clear_is_said_for_private_and_ollama() {
    for name in [ProviderName::Private, ProviderName::Ollama] {
        let variables = environment(name, "http://models.example.test:8000");
        let borrowed: Vec<(&str, &str)> =
            variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let plan = preflight(&borrowed, name).unwrap();
        let provider = plan.candidates[0].provider.as_ref().unwrap();
        assert_eq!(provider.notices()[0].code, "credential_in_clear");
    }
}

#[test]
fn the_command_lines_key_counts_for_the_requested_provider_only() {
    let flag = [("PERFXPERT_CLI_LLM_API_KEY", "planted"), ("PERFXPERT_LLM_FALLBACK_CHAIN", "openai")];
    let plan = preflight(&flag, ProviderName::Anthropic).unwrap();
    assert!(plan.candidates[0].provider.is_ok());
    assert!(plan.candidates[1].provider.is_err());
}

#[test]
fn opencode_in_the_chain_is_passed_over_inside_its_session() {
    let variables = [
        ("OPENAI_API_KEY", "planted"),
        ("PERFXPERT_LLM_FALLBACK_CHAIN", "opencode"),
        ("PERFXPERT_IN_OPENCODE_SESSION", "yes"),
    ];
    let plan = preflight(&variables, ProviderName::OpenAi).unwrap();
    assert_eq!(plan.candidates[1].provider.as_ref().err().unwrap(), "not usable inside its own session");
}

#[test]
fn the_ladder_rung_by_rung() {
    let rungs: [(&str, &str); 5] = [
        ("PERFXPERT_AGENTS_MODEL_OPENAI", "a"),
        ("PERFXPERT_OPENAI_MODEL", "b"),
        ("PERFXPERT_LLM_MODEL", "c"),
        ("PERFXPERT_MODEL", "d"),
        ("none", "none"),
    ];
    for first in 0..rungs.len() {
        let settings = settings(&rungs[first..]);
        let choice = ladder::choose(&settings, ProviderName::OpenAi, None, false);
        let (source, model) = if first == 4 { ("built-in", "gpt-4o-mini") } else { rungs[first] };
        assert_eq!((choice.model.as_deref(), choice.source.as_str()), (Some(model), source));
    }
    let all = settings(&rungs);
    let choice = ladder::choose(&all, ProviderName::OpenAi, Some("openai/x"), false);
    assert_eq!((choice.model.as_deref(), choice.source.as_str()), (Some("x"), "argument"));
    let choice = ladder::choose(&all, ProviderName::Private, Some("meta/llama"), false);
    assert_eq!(choice.model.as_deref(), Some("meta/llama"), "other slashes belong to the id");
    let choice = ladder::choose(&all, ProviderName::Anthropic, Some("x"), true);
    let built_in = (Some("claude-sonnet-4-20250514"), "built-in");
    assert_eq!((choice.model.as_deref(), choice.source.as_str()), built_in, "no shared pin for a fallback");
    let config = ConfigValues { model: Some("m".to_owned()), ..ConfigValues::default() };
    let settings = crate::Settings::from_map(&std::collections::BTreeMap::new(), &config, facts());
    let choice = ladder::choose(&settings, ProviderName::OpenCode, None, false);
    assert_eq!((choice.model.as_deref(), choice.source.as_str()), (Some("m"), "configuration"));
}

#[test]
fn addresses_as_people_write_them() {
    for (text, url) in [
        ("", "http://127.0.0.1:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:9000", "http://127.0.0.1:9000"),
        ("box", "http://box:11434"),
        ("http://box:1/", "http://box:1"),
        ("https://box/api", "https://box/api"),
        ("[::1]", "http://[::1]:11434"),
        ("[::1]:5", "http://[::1]:5"),
    ] {
        assert_eq!(normal_url(text, ProviderName::Ollama), url);
    }
    for text in ["https://x/v1/", "https://x/v1/chat/completions", "https://x/v1/chat/completions/"] {
        assert_eq!(normal_url(text, ProviderName::Private), "https://x/v1");
    }
}

#[test]
fn one_probe_says_what_is_configured() {
    let configured = |variables: &[(&str, &str)]| -> Vec<&'static str> {
        let all = probe(&settings(variables));
        all.into_iter().filter(|status| status.configured).map(|status| status.name.as_str()).collect()
    };
    assert!(configured(&[]).is_empty());
    assert_eq!(configured(&[("ROCPD_LLM_OPENAI_KEY", "x")]), ["openai"]);
    assert_eq!(configured(&[("OLLAMA_HOST", "box")]), ["ollama"]);
    assert!(configured(&[("PRIVATE_LLM_ENDPOINT", "https://x")]).is_empty());
    assert_eq!(
        configured(&[("PRIVATE_LLM_ENDPOINT", "https://x"), ("PERFXPERT_LLM_PRIVATE_API_KEY", "k")]),
        ["private"]
    );
    let with_headers =
        [("PERFXPERT_LLM_PRIVATE_URL", "https://u:p@x:9/v1"), ("PERFXPERT_LLM_PRIVATE_HEADERS", "{}")];
    assert_eq!(configured(&with_headers), ["private"]);
    let status =
        probe(&settings(&with_headers)).into_iter().find(|s| s.name == ProviderName::Private).unwrap();
    assert_eq!((status.host.as_deref(), status.missing), (Some("x:9"), None));
    let status = probe(&settings(&[])).remove(0);
    assert_eq!((status.missing, status.model_source.as_str()), (Some("ANTHROPIC_API_KEY"), "built-in"));
}

#[test]
fn unknown_names_list_the_known_ones() {
    let runtime = Arc::new(Runtime::new(settings(&[])));
    let choice = ModelChoice { provider: Some("gemini".to_owned()), ..ModelChoice::default() };
    let error = runtime.preflight(&choice).unwrap_err();
    assert_eq!(error.details["sub_kind"], "unknown_provider");
    assert_eq!(
        error.details["known"],
        serde_json::json!(["anthropic", "ollama", "openai", "opencode", "private"])
    );
}
