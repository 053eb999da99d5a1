//! The gate as a JUnit report.

use std::time::{SystemTime, UNIX_EPOCH};

use perfxpert_schemas::diff::{Gate, GateKernel};

use super::{kernel_moved, limit, named, wall_moved};
use crate::render::number::milliseconds;

/// The moment a report is stamped with, UTC: that of `SOURCE_DATE_EPOCH` when it is a number of seconds, else now.
pub fn moment(epoch: Option<&str>) -> String {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |passed| passed.as_secs());
    let seconds = epoch.and_then(|text| text.trim().parse::<u64>().ok()).unwrap_or_else(now);
    // Years beyond four digits are no timestamp of a report.
    let seconds = seconds.min(253_402_300_799);
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Gregorian date of a number of days since 1970-01-01; eras of 400 years, years from March.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + u64::from(month <= 2), month, date)
}

/// What stands inside one test case.
enum Outcome {
    Pass,
    Failure(String),
    Error(&'static str, String),
    Skipped(String),
}

struct Case {
    class: &'static str,
    name: String,
    baseline_ns: u64,
    candidate_ns: u64,
    outcome: Outcome,
}

fn wall(gate: &Gate) -> Case {
    let outcome = if gate.wall.verdict == "regressed" && gate.verdict == "regressed" {
        Outcome::Failure(format!("{}, threshold {}", wall_moved(gate), limit(gate.threshold_pct)))
    } else if gate.verdict == "no_verdict" || gate.wall.verdict == "no_verdict" {
        let reasons: Vec<&str> = gate.reasons.iter().map(|reason| reason.text.as_str()).collect();
        Outcome::Error("no_verdict", reasons.join("; "))
    } else {
        Outcome::Pass
    };
    Case {
        class: "perfxpert.ci",
        name: "wall time".to_owned(),
        baseline_ns: gate.wall.baseline_median_ns,
        candidate_ns: gate.wall.candidate_median_ns,
        outcome,
    }
}

fn kernel(gate: &Gate, kernel: &GateKernel) -> Case {
    let threshold = gate.kernel_threshold_pct.map(limit).unwrap_or_default();
    let message = format!("{}, threshold {threshold}", kernel_moved(kernel));
    let outcome = match kernel.verdict.as_str() {
        "regressed" => Outcome::Failure(message),
        "unclear" => Outcome::Error("unclear", message),
        "added" | "removed" => Outcome::Skipped(kernel.verdict.clone()),
        _ => Outcome::Pass,
    };
    Case {
        class: "perfxpert.ci.kernel",
        name: kernel.name.clone(),
        baseline_ns: kernel.baseline_median_ns,
        candidate_ns: kernel.candidate_median_ns,
        outcome,
    }
}

/// The report.
pub fn report(gate: &Gate, title: &str, moment: &str) -> String {
    let mut cases = vec![wall(gate)];
    cases.extend(named(gate).map(|row| kernel(gate, row)));
    let count = |of: fn(&Outcome) -> bool| cases.iter().filter(|case| of(&case.outcome)).count();
    let counts = format!(
        "name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"",
        escaped(title),
        cases.len(),
        count(|outcome| matches!(outcome, Outcome::Failure(_))),
        count(|outcome| matches!(outcome, Outcome::Error(..))),
        count(|outcome| matches!(outcome, Outcome::Skipped(_)))
    );
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n  <testsuite {counts} timestamp=\"{moment}\">\n"
    );
    out.push_str(&format!(
        "    <properties><property name=\"method\" value=\"{}\"/><property name=\"runs\" value=\"{}+{}\"/></properties>\n",
        gate.method, gate.runs.baseline, gate.runs.candidate
    ));
    cases.iter().for_each(|case| push(&mut out, case));
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

fn push(out: &mut String, case: &Case) {
    let micros = case.candidate_ns.saturating_add(500) / 1000;
    out.push_str(&format!(
        "    <testcase classname=\"{}\" name=\"{}\" time=\"{}.{:06}\"",
        case.class,
        escaped(&case.name),
        micros / 1_000_000,
        micros % 1_000_000
    ));
    let times = format!(
        "baseline {} ms, candidate {} ms",
        milliseconds(case.baseline_ns),
        milliseconds(case.candidate_ns)
    );
    let inner = match &case.outcome {
        Outcome::Pass => return out.push_str("/>\n"),
        Outcome::Failure(message) => {
            format!("<failure type=\"regression\" message=\"{}\">{times}</failure>", escaped(message))
        }
        Outcome::Error(kind, message) => {
            format!("<error type=\"{kind}\" message=\"{}\">{times}</error>", escaped(message))
        }
        Outcome::Skipped(message) => format!("<skipped message=\"{}\"/>", escaped(message)),
    };
    out.push_str(&format!(">\n      {inner}\n    </testcase>\n"));
}

/// Text inside an attribute. What XML 1.0 does not allow becomes U+FFFD.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' => out.push_str("&#9;"),
            '\n' => out.push_str("&#10;"),
            '\r' => out.push_str("&#13;"),
            '\0'..' ' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_utc_and_follow_the_variable() {
        assert_eq!(moment(Some("1768469400")), "2026-01-15T09:30:00Z");
        assert_eq!(moment(Some("951782400")), "2000-02-29T00:00:00Z");
        assert_eq!(moment(Some("0")), "1970-01-01T00:00:00Z");
        assert_eq!(moment(None).len(), 20);
    }

    #[test]
    fn names_of_any_bytes_stay_xml() {
        assert_eq!(escaped("k<int>\u{1b}\"&\n"), "k&lt;int&gt;\u{fffd}&quot;&amp;&#10;");
    }
}
