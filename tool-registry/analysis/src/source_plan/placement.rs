//! Where a code pattern stands in a report that also has a trace: folded into a rule, on its own, or as information.

use perfxpert_knowledge::thresholds;
use perfxpert_source::PatternId;

/// Priority of a code pattern that is not folded into another recommendation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// Worth a look.
    Medium,
    /// In this trace it costs next to nothing.
    Info,
}

impl Priority {
    /// The word in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Medium => "MEDIUM",
            Self::Info => "INFO",
        }
    }
}

/// What the trace measured of what the patterns are about, in percent of the run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// Copies with no kernel beside them.
    pub exposed_copy_pct: f64,
    /// Gaps after blocking calls.
    pub sync_gap_pct: f64,
    /// Gaps in allocation calls.
    pub alloc_gap_pct: f64,
}

/// Where a pattern goes.
#[derive(Debug, Clone, PartialEq)]
pub enum Placement {
    /// Into the recommendation of this rule.
    Merged(&'static str),
    /// Stays; the text, when there is one, ends the issue and says what it costs.
    Alone {
        /// Its priority.
        priority: Priority,
        /// `in this trace it costs 0.4% of the run`.
        cost: Option<String>,
    },
}

/// Places a pattern given the rules that fired for the trace (by rule name, `exposed_copy`) and what it measured.
/// Without a trace every pattern stands alone at [`Priority::Medium`].
pub fn place(pattern: PatternId, trace: Option<(&[&str], Measured)>) -> Placement {
    let Some((rules, measured)) = trace else {
        return Placement::Alone { priority: Priority::Medium, cost: None };
    };
    let fired = |names: &[&'static str]| names.iter().find(|name| rules.contains(name)).copied();
    let (targets, share): (&[&'static str], Option<f64>) = match pattern {
        PatternId::MemcpySync => {
            (&["exposed_copy", "small_copies", "sync_bound"], Some(measured.exposed_copy_pct))
        }
        PatternId::DeviceSync | PatternId::PythonSync => (&["sync_bound"], Some(measured.sync_gap_pct)),
        PatternId::AllocInLoop => (&["host_api"], Some(measured.alloc_gap_pct)),
        PatternId::CreateInLoop => (&["host_api"], None),
        PatternId::DefaultStream => {
            let helps = fired(&["exposed_copy", "launch_bound", "sync_bound"]).is_some();
            let priority = if helps { Priority::Medium } else { Priority::Info };
            return Placement::Alone { priority, cost: None };
        }
    };
    if let Some(rule) = fired(targets) {
        return Placement::Merged(rule);
    }
    match share {
        None => Placement::Alone { priority: Priority::Info, cost: None },
        Some(share) if share < thresholds::report().code_demote_below_pct => Placement::Alone {
            priority: Priority::Info,
            cost: Some(format!("in this trace it costs {:.1}% of the run", crate::rounding::round(share, 1))),
        },
        Some(_) => Placement::Alone { priority: Priority::Medium, cost: None },
    }
}
