//! Every rule of the gate has a claim that breaks only it and a near miss that passes.

use std::sync::Arc;

use super::*;
use crate::fake::{lexicon, pack, roots};
use crate::pack::PackVerdict;
use crate::redact::Scrubber;
use crate::secret::Secret;
use crate::settings::Identity;

fn redactor() -> Redactor {
    let scrubber = Arc::new(Scrubber::new(&[Secret::new("planted-credential-abcdefgh")]));
    Redactor::new(scrubber, &roots(), &Identity::default())
}

fn judge_with(pack: &EvidencePack, text: &str, cites: &[&str]) -> Result<String, &'static str> {
    let (lexicon, redactor) = (lexicon(), redactor());
    let gate = ClaimGate::new(pack, &lexicon, &redactor);
    let claim = Claim { text: text.to_owned(), cites: cites.iter().map(|id| (*id).to_owned()).collect() };
    gate.claim(&claim).map(|(text, _)| text).map_err(DropReason::as_str)
}

fn judge(text: &str, cites: &[&str]) -> Result<String, &'static str> {
    judge_with(&pack(), text, cites)
}

fn passes(text: &str, cites: &[&str]) {
    assert_eq!(judge(text, cites), Ok(text.to_owned()), "{text}");
}

fn drops(text: &str, cites: &[&str], reason: &str) {
    assert_eq!(judge(text, cites), Err(reason), "{text}");
}

#[test]
fn the_five_claims_of_the_analysis_example() {
    passes(
        "Almost all kernel time is one product, `gemm_f16_naive`, which keeps the vector units 78% busy.",
        &["m.percent_of_total@k1", "m.valu_util@k1"],
    );
    passes("Copies that nothing hides cost another 14.5% of the run.", &["m.memcpy_pct"]);
    drops("Switching to MFMA would make it 6.4x faster.", &["m.valu_util@k1"], "number");
    drops("The kernel is memory-bound in places.", &["m.kernel_pct"], "contradicts");
    drops("The GPU is well used.", &["m.gpu_is_fine"], "cites_nothing");
}

#[test]
fn shape() {
    for text in [
        "# Heading",
        "- a point",
        "1. a point",
        "One\nTwo",
        "| a | b |",
        "See https://example.com for more.",
        "A <b>bold</b> word",
        "An odd ` mark",
        "```code```",
        "Hidden \u{202E}text",
        "memory-\u{200B}bound",
        "tab\there",
    ] {
        drops(text, &["m.kernel_pct"], "shape");
    }
    passes("A kernel ran - most of the time - on the GPU.", &["m.kernel_pct"]);
}

#[test]
fn numbers_are_roundings_of_cited_values_in_their_unit() {
    passes("The kernel ran 73.75% of the time.", &["m.kernel_pct"]);
    passes("The kernel ran 73.8% of the time.", &["m.kernel_pct"]);
    passes("The kernel ran 74 % of the time.", &["m.kernel_pct"]);
    drops("The kernel ran 73.6% of the time.", &["m.kernel_pct"], "number");
    drops("The kernel ran 73.75% of the time.", &["m.memcpy_pct"], "number");
    passes("The window is 120 ms long, 0.12 s in all, 120,000,000 ns.", &["m.window_ns"]);
    passes("The window is 120000 µs.", &["m.window_ns"]);
    drops("The window is 120 s long.", &["m.window_ns"], "number");
    drops("The window is 120 MiB long.", &["m.window_ns"], "number");
    passes("It moved 384 MiB, or 402.65 MB, or 0.375 GiB.", &["m.moved"]);
    passes("It reached 636 GB/s, that is 0.64 TB/s.", &["m.hbm_gbps"]);
    passes("VALU utilization is 0.78, so 78%.", &["m.valu_util@k1"]);
    passes("The run changed by -12.3%.", &["m.wall_delta"]);
    drops("The run changed by 12.3%.", &["m.wall_delta"], "number");
    passes("It was called 48 times.", &["m.calls@k1"]);
    drops("It was called 49 times.", &["m.calls@k1"], "number");
    passes("Two or 3 kernels of gfx942 use FP16.", &["m.kernel_pct"]);
    drops("Of 11 kernels one matters.", &["m.kernel_pct"], "number");
    passes("At most 1.42x faster.", &["m.gain"]);
    drops("It would be 6 times faster.", &["m.kernel_pct"], "number");
    drops("It would be 6-fold faster.", &["m.kernel_pct"], "number");
    drops("It would take 5% less.", &["m.kernel_pct"], "number");
    drops("It does 1e9 steps.", &["m.kernel_pct"], "number");
    drops("It would be ½ as long.", &["m.kernel_pct"], "number");
    drops("It took 1,2 steps.", &["m.kernel_pct"], "number");
}

#[test]
fn names_in_backticks_are_of_the_pack() {
    passes("`gemm_f16_naive` and `hipMemcpy` matter, see `valu_util` and `k1`.", &["m.kernel_pct"]);
    assert_eq!(judge("It is in `@src/ops.hip`.", &["m.kernel_pct"]), Ok("It is in `ops.hip`.".to_owned()));
    drops("`gemm_f16_tuned` matters.", &["m.kernel_pct"], "name");
    drops("`/etc/passwd` matters.", &["m.kernel_pct"], "name");
}

#[test]
fn flags_are_of_the_catalogue() {
    passes("Build with -O3 and --offload-arch=gfx942.", &["m.kernel_pct"]);
    drops("Build with -ffast-math.", &["m.kernel_pct"], "command");
    drops("Build with --ffast-math, then run.", &["m.kernel_pct"], "command");
}

#[test]
fn bottleneck_words_are_the_verdicts_own() {
    passes("The run is compute-bound.", &["m.kernel_pct"]);
    passes("Compute is the bottleneck.", &["m.kernel_pct"]);
    passes("The memory clock and the latency of a copy do not matter.", &["m.kernel_pct"]);
    for text in [
        "The run is memory-bound.",
        "The run is memory bound.",
        "The run is memory\u{2011}bound.",
        "The run is limited by memory.",
        "The bottleneck is the latency.",
        "Memory is the main bottleneck.",
        "There is a memory bottleneck.",
        "It is bandwidth-limited.",
        "It is copy-bound.",
        "It is launch-bound.",
        "It is latency-bound.",
        "It is idle-bound.",
        "It is sync-bound.",
        "It is communication-bound.",
        "It is occupancy-bound.",
        "The label is memory_transfer.",
    ] {
        drops(text, &["m.kernel_pct"], "contradicts");
    }
    let memory = EvidencePack {
        verdict: Some(PackVerdict {
            primary_bottleneck: "memory_transfer".to_owned(),
            bottleneck_detail: Some("hbm_bandwidth".to_owned()),
            ..pack().verdict.unwrap()
        }),
        ..pack()
    };
    assert!(judge_with(&memory, "The run is memory-bound.", &["m.kernel_pct"]).is_ok());
    assert_eq!(judge_with(&memory, "The run is copy-bound.", &["m.kernel_pct"]), Err("contradicts"));
    assert_eq!(judge_with(&memory, "The run is compute-bound.", &["m.kernel_pct"]), Err("contradicts"));
}

#[test]
fn secrets_and_unknown_path_tokens_are_dropped_and_known_ones_put_back() {
    drops("The key is planted-credential-abcdefgh.", &["m.kernel_pct"], "redaction");
    drops("See [PATH-17] there.", &["m.kernel_pct"], "redaction");
    assert_eq!(
        judge("The loop in @src/src/ops.hip runs most.", &["m.kernel_pct"]),
        Ok("The loop in src/ops.hip runs most.".to_owned())
    );
    drops("The loop in @src/../ops.hip runs most.", &["m.kernel_pct"], "redaction");
}

#[test]
fn words_that_never_appear() {
    for text in
        ["Let me see.", "I will look.", "As an AI, no.", "The routing is fine.", "A specialist said so."]
    {
        drops(text, &["m.kernel_pct"], "phrase");
    }
    passes("The router is fine.", &["m.kernel_pct"]);
}

#[test]
fn the_dropped_sentence_lists_reasons_by_name() {
    let mut tally = Tally::default();
    tally.keep();
    tally.keep();
    tally.drop("number");
    tally.drop("contradicts");
    tally.drop("cites_nothing");
    assert_eq!(
        dropped_notice(&tally.finish()),
        Some((
            "model_text_trimmed",
            "Model text: 2 of 5 statements used, 3 dropped (1 cited nothing known, 1 contradicted the verdict, 1 \
             wrong numbers)."
                .to_owned()
        ))
    );
}

#[test]
fn the_first_sentence_ends_at_a_full_stop_outside_names_and_numbers() {
    assert_eq!(first_sentence("At 14.5% of `a. b`. Then more."), "At 14.5% of `a. b`.");
    assert_eq!(first_sentence("No end"), "No end");
}
