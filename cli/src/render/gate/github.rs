//! The gate as workflow commands of GitHub Actions.

use perfxpert_schemas::diff::Gate;

use super::{limit, wall_moved};
use crate::render::name::visible;
use crate::render::number::{change, or_dash};

/// One command a line.
pub fn commands(gate: &Gate, title: &str) -> String {
    let wall = format!("wall time {}, threshold {}", wall_moved(gate), limit(gate.threshold_pct));
    let (level, messages): (&str, Vec<String>) = match gate.verdict.as_str() {
        "pass" => ("notice", vec![wall]),
        "regressed" => {
            let mut messages = Vec::new();
            if gate.wall.verdict == "regressed" {
                messages.push(wall);
            }
            let threshold = gate.kernel_threshold_pct.map(limit).unwrap_or_default();
            messages.extend(gate.kernels.iter().filter(|kernel| kernel.verdict == "regressed").map(
                |kernel| {
                    let change = or_dash(kernel.delta_pct, change);
                    format!("kernel {} {change}, threshold {threshold}", visible(&kernel.name))
                },
            ));
            ("error", messages)
        }
        _ => {
            let reason = |reason: &perfxpert_schemas::diff::GateReason| {
                format!("no verdict, {}: {}", reason.code, visible(&reason.text))
            };
            ("warning", gate.reasons.iter().map(reason).collect())
        }
    };
    messages.iter().map(|text| format!("::{level} title={}::{}\n", property(title), message(text))).collect()
}

/// Lines for the file behind `GITHUB_OUTPUT`.
pub fn outputs(gate: &Gate) -> String {
    let delta = gate.wall.delta_pct.map(|percent| format!("{percent:.4}")).unwrap_or_default();
    format!("verdict={}\nexit_code={}\nwall_delta_pct={delta}\n", gate.verdict, gate.exit_code)
}

fn message(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}
