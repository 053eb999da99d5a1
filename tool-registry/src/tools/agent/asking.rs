//! What agents have in common: paths, durations, whom to ask for words, and how the answer came about.

use perfxpert_agent::{ModelChoice, Plan};
use perfxpert_analysis::units::Nanos;
use perfxpert_schemas::ErrorObject;
use perfxpert_schemas::report::Report;
use perfxpert_schemas::report::meta::WarningDetail;
use perfxpert_schemas::tools::agent::options::{FailureWord, MAX_PATH, MAX_PATHS, ProviderWord, RunOptions};
use perfxpert_schemas::tools::agent::run::{AgentRun, Notice, ProviderSubKind, RunMode, provider_error};
use perfxpert_trace::Severity;

use crate::{Context, report};

/// How a call asks for words.
pub(super) struct Asked<'a> {
    pub(super) provider: Option<ProviderWord>,
    pub(super) model: Option<&'a String>,
    pub(super) airgap: Option<bool>,
    pub(super) session_id: Option<&'a str>,
    pub(super) options: &'a RunOptions,
}

impl Asked<'_> {
    /// Whom to ask; decided before any file is looked at.
    ///
    /// # Errors
    /// `invalid_argument` for the session id; kind `provider` for the service.
    pub(super) fn preflight(&self, context: &Context) -> Result<Plan, ErrorObject> {
        let accepted = |letter: char| letter.is_ascii_alphanumeric() || "_.:-".contains(letter);
        if let Some(id) = self.session_id.filter(|id| !id.chars().all(accepted)) {
            let message = "session_id holds a character that is not accepted.";
            let hint = "Use letters, digits and _ . : - only.";
            return Err(ErrorObject::invalid("session_id", message, hint).value(id));
        }
        context.services.models.preflight(&ModelChoice {
            provider: self.provider.map(|word| word.provider().as_str().to_owned()),
            model: self.model.cloned(),
            airgap: self.airgap.unwrap_or(false),
        })
    }

    /// How the answer came about; its notices become warnings of the report.
    ///
    /// # Errors
    /// Kind `provider` when a model was asked for, none words this agent, and the caller wants an error then.
    pub(super) fn run(&self, agent: &str, plan: &Plan, report: &mut Report) -> Result<AgentRun, ErrorObject> {
        let mut run = AgentRun::deterministic(agent, plan.airgap);
        run.requested_provider = plan.requested;
        run.notices.clone_from(&plan.notices);
        if plan.uses_model() {
            let message = format!("The answer of {agent} is computed; no model service words it.");
            let hint = "Leave the provider out; verdict, numbers and recommendations are the same.";
            let error = provider_error(ProviderSubKind::Fatal, message.clone(), hint);
            if self.options.on_llm_failure == Some(FailureWord::Error) {
                return Err(error);
            }
            run.mode = RunMode::Fallback;
            run.notices.push(Notice { code: "provider_failed".to_owned(), message });
            run.error = Some(error);
        }
        let notices = run.notices.iter().map(|notice| WarningDetail {
            code: notice.code.clone(),
            severity: Severity::Info.label().to_owned(),
            message: notice.message.clone(),
            recommendation: None,
        });
        report::warn(report, notices.collect());
        Ok(run)
    }
}

/// Paths of an argument, each once, in the order given.
pub(super) fn paths<'a>(
    field: &str,
    given: impl Iterator<Item = &'a String>,
) -> Result<Vec<String>, ErrorObject> {
    let mut paths: Vec<String> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for path in given {
        let length = path.chars().count();
        if !(1..=MAX_PATH).contains(&length) {
            let message = format!("A path of {field} has {length} characters.");
            let hint = format!("Send paths of 1 to {MAX_PATH} characters.");
            return Err(ErrorObject::invalid(field, message, hint));
        }
        if seen.insert(path.as_str()) {
            paths.push(path.clone());
        }
    }
    if paths.len() > MAX_PATHS {
        let message = format!("{field} names {} paths; {MAX_PATHS} are accepted.", paths.len());
        return Err(ErrorObject::invalid(field, message, "Name the folder that holds them."));
    }
    Ok(paths)
}

/// The least duration, from its spelling in nanoseconds or in microseconds; `place` is the object that holds them.
pub(super) fn min_duration(place: &str, ns: Option<f64>, us: Option<f64>) -> Result<Nanos, ErrorObject> {
    let ns = match (ns, us) {
        (Some(_), Some(_)) => {
            return Err(ErrorObject::invalid(
                &format!("{place}.min_duration"),
                "min_duration (nanoseconds) and min_duration_us (microseconds) were both sent.",
                "Send one of them.",
            ));
        }
        (Some(ns), None) => ns,
        (None, Some(us)) => us * 1000.0,
        (None, None) => 0.0,
    };
    // A cast of a float saturates, so that a bound beyond any duration simply keeps nothing.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "never negative; saturates")]
    let ns = ns.ceil() as u64;
    Ok(Nanos(ns))
}

/// Refuses options that only the root agent has.
pub(super) fn without_root_options(options: &RunOptions) -> Result<(), ErrorObject> {
    let set = [
        ("database_paths", !options.database_paths.is_empty()),
        ("baseline_paths", !options.baseline_paths.is_empty()),
        ("counter_paths", !options.counter_paths.is_empty()),
        ("att_dir", options.att_dir.is_some()),
        ("top_kernels", options.top_kernels.is_some()),
        ("min_duration_us", options.min_duration_us.is_some()),
        ("min_duration", options.min_duration.is_some()),
        ("kernel_filter", options.kernel_filter.is_some()),
        ("gfx_id", options.gfx_id.is_some()),
        ("gpu_monitor_log", options.gpu_monitor_log.is_some()),
        ("advanced", options.advanced),
        ("redact_paths", options.redact_paths),
        ("allow_partial", options.allow_partial.is_some()),
        ("intent_hint", options.intent_hint.is_some()),
        ("detail", options.detail.is_some()),
    ];
    match set.iter().find(|(_, set)| *set) {
        None => Ok(()),
        Some((name, _)) => Err(ErrorObject::invalid(
            &format!("options.{name}"),
            format!("options.{name} belongs to agent.root."),
            "Leave it out, or send it to agent.root.",
        )),
    }
}
