//! Variables: booleans, numbers, precedence, and what counts as secret.

use std::collections::BTreeMap;
use std::time::Duration;

use perfxpert_schemas::tools::agent::run::ProviderName;

use super::*;
use crate::fake::{facts, settings};

fn with_config(environment: &[(&str, &str)], config: &ConfigValues) -> Settings {
    let map: BTreeMap<String, String> =
        environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Settings::from_map(&map, config, facts())
}

#[test]
fn airgap_as_the_table_says() {
    let config = |airgap| ConfigValues { airgap: Some(airgap), ..ConfigValues::default() };
    assert!(with_config(&[], &config(false)).airgap.is_none());
    for value in ["1", "true", "On", "enabled", "2", "n", "maybe"] {
        for airgap in [true, false] {
            let settings = with_config(&[("PERFXPERT_AIRGAP", value)], &config(airgap));
            assert_eq!(settings.airgap.as_deref(), Some("PERFXPERT_AIRGAP"), "{value}");
        }
    }
    for value in ["0", "false", "off", "No"] {
        assert!(with_config(&[("PERFXPERT_AIRGAP", value)], &config(true)).airgap.is_none(), "{value}");
    }
    assert_eq!(with_config(&[], &config(true)).airgap.as_deref(), Some("configuration"));
    let unreadable = ConfigValues { unreadable: true, ..ConfigValues::default() };
    assert!(with_config(&[("PERFXPERT_AIRGAP", "0")], &unreadable).airgap.is_some());
}

#[test]
fn a_bad_number_is_named_and_leaves_the_default() {
    for (name, bad) in [
        ("PERFXPERT_AGENTS_MAX_TURNS", "0"),
        ("PERFXPERT_MAX_SESSION_TURNS", "-1"),
        ("PERFXPERT_MAX_SESSION_TOKENS", "999"),
        ("PERFXPERT_AGENTS_MAX_SECONDS", "3601"),
        ("PERFXPERT_LLM_TIMEOUT_S", "601"),
        ("PERFXPERT_MAX_TOKENS", "many"),
    ] {
        let settings = settings(&[(name, bad)]);
        assert_eq!(settings.budgets, Budgets::default(), "{name}");
        assert_eq!(settings.max_output_tokens, 2048);
        assert!(settings.notices[0].message.contains(name));
    }
    let settings = settings(&[
        ("PERFXPERT_AGENTS_MAX_TURNS", " 7 "),
        ("PERFXPERT_AGENTS_MAX_SECONDS", "60"),
        ("PERFXPERT_LLM_TIMEOUT_S", "9"),
    ]);
    assert_eq!(settings.budgets.turns_per_run, 7);
    assert_eq!(settings.budgets.model_time(true), Duration::from_secs(60));
    assert_eq!(settings.budgets.model_time(false), Duration::from_secs(60));
    assert_eq!(settings.budgets.http_attempt(), Duration::from_secs(9));
    assert!(settings.notices.is_empty());
    assert_eq!(Budgets::default().http_attempt(), Duration::from_secs(120));
    assert_eq!(Budgets::default().child_attempt(), Duration::from_secs(180));
}

#[test]
fn the_environment_goes_before_the_configuration() {
    let config = ConfigValues {
        fallback_chain: vec!["ollama".to_owned()],
        model: Some("config-model".to_owned()),
        max_tokens: Some(512),
        agent_creativity: Some("exploratory".to_owned()),
        fence_profile: Some("full".to_owned()),
        ..ConfigValues::default()
    };
    let from_config = with_config(&[], &config);
    assert_eq!(from_config.fallback_chain, ["ollama"]);
    assert_eq!(from_config.max_output_tokens, 512);
    assert_eq!(from_config.creativity, Creativity::Exploratory);
    assert_eq!(from_config.fence_profile, FenceProfile::Full);
    let both = with_config(
        &[
            ("PERFXPERT_LLM_FALLBACK_CHAIN", "openai, private"),
            ("PERFXPERT_MAX_TOKENS", "1024"),
            ("PERFXPERT_AGENT_CREATIVITY", "strict"),
            ("PERFXPERT_FENCE_PROFILE", "minimal"),
        ],
        &config,
    );
    assert_eq!(both.fallback_chain, ["openai", "private"]);
    assert_eq!(both.max_output_tokens, 1024);
    assert_eq!((both.creativity, both.fence_profile), (Creativity::Strict, FenceProfile::Minimal));
}

#[test]
fn credentials_in_their_order() {
    let names = ["ANTHROPIC_API_KEY", "PERFXPERT_LLM_ANTHROPIC_KEY", "ROCPD_LLM_ANTHROPIC_KEY"];
    for first in 0..3 {
        let set: Vec<(&str, &str)> = names[first..].iter().map(|name| (*name, *name)).collect();
        let settings = settings(&set);
        let credential = settings.vendor(ProviderName::Anthropic).credential.unwrap();
        assert_eq!((credential.variable, credential.value.expose()), (names[first], names[first]));
        assert_eq!(settings.notices.len(), usize::from(first == 2), "a deprecated name is noted once");
    }
    let blank = settings(&[("OPENAI_API_KEY", "   "), ("PERFXPERT_LLM_OPENAI_KEY", " planted ")]);
    let credential = blank.vendor(ProviderName::OpenAi).credential.unwrap();
    assert_eq!((credential.variable, credential.value.expose()), ("PERFXPERT_LLM_OPENAI_KEY", "planted"));
}

#[test]
fn the_childs_environment_has_no_variable_of_ours() {
    let settings =
        settings(&[("PERFXPERT_X", "1"), ("ROCPD_Y", "1"), ("OPENAI_API_KEY", "planted"), ("LANG", "C")]);
    let names: Vec<&str> = settings.child_environment.0.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "LANG",
            "NO_COLOR",
            "OPENAI_API_KEY",
            "OPENCODE_CONFIG_CONTENT",
            "OPENCODE_DISABLE_AUTOUPDATE",
            "PERFXPERT_IN_OPENCODE_SESSION"
        ]
    );
}

#[test]
fn debug_shows_no_value() {
    let shown = format!(
        "{:?}",
        settings(&[
            ("ANTHROPIC_API_KEY", "planted-a"),
            ("PERFXPERT_CLI_LLM_API_KEY", "planted-b"),
            ("PERFXPERT_LLM_PRIVATE_HEADERS", "{\"x\":\"planted-c\"}"),
            ("HTTPS_PROXY", "http://u:planted-d@p"),
            ("SOME_SECRET", "planted-e"),
            ("HOME", "/home/planted-f"),
            ("LANG", "planted-g"),
        ])
    );
    assert!(!shown.contains("planted"), "{shown}");
}

#[test]
fn facts_come_from_plain_tables_and_unknown_words_are_named() {
    let table = |rows: &[(&str, &str)]| -> BTreeMap<String, String> {
        rows.iter().map(|(key, word)| ((*key).to_owned(), (*word).to_owned())).collect()
    };
    let models = table(&[("openai", "m")]);
    let quirks = [table(&[("prefix", "o1"), ("provider", "openai"), ("temperature", "refused")])];
    let facts = LlmFacts::from_tables(&models, &quirks, &["x".to_owned()]).unwrap();
    assert_eq!(facts.models[&ProviderName::OpenAi], "m");
    assert_eq!((facts.quirks[0].prefix.as_str(), facts.quirks[0].temperature), ("o1", Some(false)));
    let shape = |model: &str| {
        crate::WireShape::full(TokenKey::MaxTokens).preset(ProviderName::OpenAi, Some(model), &facts.quirks)
    };
    assert!(!shape("o1-mini").temperature && shape("gpt-4o").temperature);
    for bad in [
        table(&[("prefix", "x"), ("mood", "good")]),
        table(&[("prefix", "x"), ("tools", "perhaps")]),
        table(&[]),
    ] {
        assert!(LlmFacts::from_tables(&models, &[bad], &[]).is_err());
    }
    assert_eq!(
        LlmFacts::from_tables(&table(&[("gemini", "m")]), &[], &[]),
        Err(UnknownFact("gemini".to_owned()))
    );
}
