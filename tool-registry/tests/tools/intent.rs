//! `intent.classify`.

use serde_json::{Value, json};

use crate::ask::{ask, holds};

fn classify(query: &str) -> Value {
    ask("intent.classify", &json!({ "user_query": query }))
}

#[test]
fn sentences_go_where_they_should() {
    for (query, intent, confidence) in [
        ("why is my kernel slow", "analyze", 0.88),
        ("did my patch help", "verify", 0.9),
        ("suggest an optimization", "optimize", 0.91),
        ("how can I speed up my kernel", "optimize", 0.93),
        ("what should I fix first", "optimize", 0.9),
        ("what can you do", "help", 0.92),
        ("how do I use this", "help", 0.92),
        ("explain occupancy", "explain", 0.88),
        ("compare these two runs", "verify", 0.9),
        ("did it regress", "verify", 0.93),
        ("what is the bottleneck", "analyze", 0.88),
        ("help me optimize this kernel", "optimize", 0.88),
        ("why is it slower now", "verify", 0.73),
        ("make it faster", "optimize", 0.84),
        ("profiling data", "analyze", 0.68),
        ("recommendations please", "optimize", 0.88),
        ("optimise this", "optimize", 0.88),
        ("", "analyze", 0.3),
    ] {
        let answer = classify(query);
        holds(&answer, &json!({ "intent": intent, "confidence": confidence }));
    }
    for (query, intent) in [
        ("help me speed up this kernel", "optimize"),
        ("how do I use perfxpert", "help"),
        ("did the change help", "verify"),
        ("what does occupancy mean", "explain"),
    ] {
        assert_eq!(classify(query)["intent"], intent, "{query}");
    }
}

#[test]
fn fallback_and_a_near_second_warn() {
    let nothing = classify("bonjour");
    holds(
        &nothing,
        &json!({ "intent": "analyze", "confidence": 0.3, "matched_pattern": null, "candidates": [] }),
    );
    assert!(nothing["warning"].is_string());
    let near = classify("why is it slower now");
    assert!(near["warning"].is_string());
    assert_eq!(near["candidates"][0]["intent"], "verify");
    assert!(classify("explain occupancy").get("warning").is_none());
}

#[test]
fn case_and_line_breaks_do_not_matter_and_length_is_bounded() {
    assert_eq!(classify("WHY is\nmy KERNEL slow"), classify("why is my kernel slow"));
    let long = classify(&format!("{} why is my kernel slow", "x ".repeat(2_000)));
    holds(&long, &json!({ "intent": "analyze", "confidence": 0.3 }));
    assert!(long["notes"][0].as_str().unwrap().contains("4000"));
}
