//! `compiler`: filters the flag catalogue, and reads a flag as people write it.

use perfxpert_knowledge::compiler::{self, Flag};
use perfxpert_knowledge::{arch, thresholds};
use perfxpert_schemas::ErrorObject;
use perfxpert_schemas::tools::compiler as wire;

use crate::arguments::unknown_name;
use crate::{Context, Tool, device, tool};

pub(crate) fn entries() -> Vec<Tool> {
    vec![
        tool::<wire::LookupFlags>(
            "Compiler flags for a goal",
            "Compiler flags that are safe to suggest for a goal. Use compiler_explain_flag for one flag, pragma_lookup_pragmas for loop hints, occupancy_suggest_vgpr_reduction for launch bounds.",
            lookup_flags,
        ),
        tool::<wire::ExplainFlag>(
            "One compiler flag",
            "One compiler flag, allowed or denied, as people really write it: what it does, its risk, whether its value is usable, and what to use instead.",
            explain_flag,
        ),
    ]
}

/// Whether a flag fits a filter value.
type Fits<'a> = &'a dyn Fn(&Flag, &str) -> bool;

/// In an `arches` or `kernel_classes` column: every one.
const ALL: &str = "all";
const ANY: &str = "any";

fn row(flag: &Flag) -> wire::FlagRow {
    wire::FlagRow {
        flag: flag.flag.clone(),
        category: flag.category.clone(),
        description: flag.description.clone(),
        allowlist: flag.allowlist,
        risk: flag.risk.clone(),
        goals: flag.goals.clone(),
        arches: flag.arches.clone(),
        kernel_classes: flag.kernel_classes.clone(),
        note: flag.note.clone(),
    }
}

/// A filter value that must be one of a vocabulary, so that "nothing applies" and "misspelt" differ.
fn word(
    field: &str,
    asked: Option<&str>,
    known: &[String],
    what: &str,
) -> Result<Option<String>, ErrorObject> {
    let Some(asked) = asked.map(str::trim) else { return Ok(None) };
    if known.iter().any(|word| word == asked) {
        Ok(Some(asked.to_owned()))
    } else {
        Err(unknown_name(field, asked, known.iter().map(String::as_str), what))
    }
}

fn lookup_flags(_: &Context, input: wire::LookupFlagsInput) -> Result<wire::LookupFlagsOutput, ErrorObject> {
    let vocabulary = compiler::vocabulary();
    let goal = word("goal", input.goal.as_deref(), &vocabulary.goals, "goal")?;
    let arch = match &input.arch {
        Some(id) => Some(device::architecture("arch", id)?.gfx_id.clone()),
        None => None,
    };
    let class =
        word("kernel_class", input.kernel_class.as_deref(), &vocabulary.kernel_classes, "kernel class")?;
    let mut kept: Vec<&Flag> = compiler::flags().iter().filter(|flag| flag.allowlist).collect();
    let mut note = None;
    let names = |column: &[String], wanted: &str, every: &str| {
        column.iter().any(|name| name == wanted || name == every)
    };
    let filters: [(&str, &Option<String>, Fits<'_>); 3] = [
        ("goal", &goal, &|flag, wanted| flag.goals.iter().any(|goal| goal == wanted)),
        ("arch", &arch, &|flag, wanted| names(&flag.arches, wanted, ALL)),
        ("kernel_class", &class, &|flag, wanted| names(&flag.kernel_classes, wanted, ANY)),
    ];
    for (name, wanted, fits) in filters {
        let Some(wanted) = wanted else { continue };
        let before = kept.len();
        kept.retain(|flag| fits(flag, wanted));
        if kept.is_empty() && before > 0 {
            note = Some(format!("{name} {wanted} removed the last of {before} flags"));
        }
    }
    let total = kept.len();
    let items: Vec<wire::FlagRow> = kept.into_iter().skip(input.offset).take(input.limit).map(row).collect();
    let returned = items.len();
    Ok(wire::LookupFlagsOutput {
        items,
        total,
        returned,
        truncated: input.offset.saturating_add(returned) < total,
        filters: wire::Filters { goal, arch, kernel_class: class },
        note,
    })
}

/// Which catalogue entry a written flag means, and the value written behind its `=`.
///
/// Denied families are matched by prefix, since what follows them is the user's own.
fn find(written: &str) -> Option<(&'static Flag, Option<String>)> {
    let flags = compiler::flags();
    if let Some(flag) = flags.iter().find(|flag| flag.flag == written) {
        return Some((flag, None));
    }
    let with_value = flags
        .iter()
        .filter(|flag| flag.flag.ends_with('='))
        .find_map(|flag| Some((flag, Some(written.strip_prefix(flag.flag.as_str())?.trim().to_owned()))));
    if with_value.is_some() {
        return with_value;
    }
    flags
        .iter()
        .filter(|flag| !flag.allowlist && written.starts_with(flag.flag.as_str()))
        .filter(|flag| {
            // `-mllvmfoo` is no `-mllvm`: the word must end there, or the entry is one of linker arguments.
            let next = written.get(flag.flag.len()..).and_then(|rest| rest.chars().next());
            next.is_none_or(|next| next == ' ' || next == '=' || next == ',')
        })
        .max_by_key(|flag| flag.flag.len())
        .map(|flag| (flag, None))
}

const OFFLOAD: &str = "--offload-arch=";
const THREADS: &str = "--gpu-max-threads-per-block=";

fn explain_flag(_: &Context, input: wire::ExplainFlagInput) -> Result<wire::ExplainFlagOutput, ErrorObject> {
    let written = input.flag_name.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some((flag, value)) = find(&written) else {
        let known = compiler::flags().iter().map(|flag| flag.flag.as_str());
        return Err(unknown_name("flag_name", &written, known, "flag"));
    };
    let (value_ok, value_hint) = match (flag.flag.as_str(), &value) {
        (OFFLOAD, Some(value)) => judge_arch(value),
        (THREADS, Some(value)) => {
            let most = thresholds::occupancy().max_workgroup_size;
            let ok = value.parse::<u64>().is_ok_and(|threads| (1..=most).contains(&threads));
            (Some(ok), Some(format!("an integer from 1 to {most}")))
        }
        (OFFLOAD, None) => (None, Some("an exact gfx id, such as gfx942".to_owned())),
        (THREADS, None) => (None, Some("the largest workgroup that is ever launched, an integer".to_owned())),
        _ => (None, None),
    };
    let value_reason = match (&value, value_ok) {
        (None, _) if flag.flag.ends_with('=') => Some("no value was written"),
        (None, _) => Some("the flag takes no value"),
        (Some(_), None) => Some("the value is not judged"),
        (Some(_), Some(_)) => None,
    };
    Ok(wire::ExplainFlagOutput {
        row: row(flag),
        matched_flag: flag.flag.clone(),
        value,
        value_ok,
        value_hint,
        value_reason,
        alternative: flag.alternative.clone(),
    })
}

fn judge_arch(value: &str) -> (Option<bool>, Option<String>) {
    if arch::find(value).is_some() {
        (Some(true), Some("an exact gfx id; features follow it after a colon".to_owned()))
    } else {
        (Some(false), Some(format!("one of {}", arch::KNOWN.join(", "))))
    }
}
