//! What a profiling command would collect, as tokens that two commands can be compared by.

use std::collections::BTreeSet;

use perfxpert_knowledge::collect::{self, Handling, ProfilerOption, ProfilerOptions, Takes};
use perfxpert_knowledge::commands::{UnbalancedQuote, split};
use sha2::{Digest, Sha256};

/// Which profiler a command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profiler {
    /// rocprofv3, the only one whose options are read.
    Rocprofv3,
    /// rocprof-compute.
    RocprofCompute,
    /// One of the rocprof-sys programs.
    RocprofSys,
    /// The profilers before rocprofv3.
    Rocprof,
    /// None of them.
    Unknown,
}

impl Profiler {
    fn of(word: &str) -> Option<Self> {
        match word.rsplit('/').next()? {
            "rocprofv3" => Some(Self::Rocprofv3),
            "rocprof-compute" => Some(Self::RocprofCompute),
            "rocprof-sys-run" | "rocprof-sys-sample" | "rocprof-sys-instrument" => Some(Self::RocprofSys),
            "rocprof" | "rocprofv2" => Some(Self::Rocprof),
            _ => None,
        }
    }

    /// The word used in answers.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rocprofv3 => "rocprofv3",
            Self::RocprofCompute => "rocprof-compute",
            Self::RocprofSys => "rocprof-sys",
            Self::Rocprof => "rocprof",
            Self::Unknown => "unknown",
        }
    }
}

/// What a command collects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// Tokens asked for, sorted.
    pub items: Vec<String>,
    /// Tokens asked for and those they imply, sorted.
    pub covers: Vec<String>,
    /// Which profiler.
    pub tool: Profiler,
    /// Whether a known profiler was found.
    pub recognised: bool,
    /// Whether nothing leaves open what is collected.
    pub complete: bool,
    /// Counters of each pass, as given.
    pub pmc_groups: Vec<Vec<String>>,
    /// Options that narrow what is collected, with their values, in order.
    pub filters: Vec<(String, String)>,
    /// Input files that may say more.
    pub unresolved_inputs: Vec<String>,
    /// Words that look like options and are none.
    pub unknown_options: Vec<String>,
    /// First word of the profiled program.
    pub application: Option<String>,
}

impl Fingerprint {
    /// 12 hex digits that are equal for equal `covers` and `filters`.
    #[must_use]
    pub fn id(&self) -> String {
        let mut filters: Vec<String> =
            self.filters.iter().map(|(option, value)| format!("{option}={value}")).collect();
        filters.sort();
        let text = format!("{}\n\n{}", self.covers.join("\n"), filters.join("\n"));
        Sha256::digest(text.as_bytes()).iter().take(6).map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Reads a command as a POSIX shell splits it.
///
/// # Errors
/// A quote is never closed.
pub fn of_command(command: &str) -> Result<Fingerprint, UnbalancedQuote> {
    let words = split(command)?;
    // Environment assignments and launchers may stand in front of the profiler.
    let found = words.iter().enumerate().find_map(|(at, word)| Profiler::of(word).map(|tool| (at, tool)));
    let mut reading = Reading::new(found.map_or(Profiler::Unknown, |(_, tool)| tool));
    let rest = found.and_then(|(at, _)| words.get(at + 1..)).unwrap_or_default();
    match reading.tool {
        Profiler::Rocprofv3 => reading.options(rest),
        Profiler::RocprofCompute | Profiler::RocprofSys => {
            reading.items.insert(format!("tool:{}", reading.tool.as_str()));
            reading.complete = false;
            reading.program(rest);
        }
        Profiler::Rocprof | Profiler::Unknown => {
            reading.complete = false;
            reading.program(rest);
        }
    }
    Ok(reading.finish())
}

/// Option that turns PC sampling on, whose token other spellings share.
const PC_SAMPLING: &str = "--pc-sampling-beta-enabled";
/// Spelling of the same by older descriptions; no profiler accepts it.
const PC_SAMPLING_MISTAKEN: &str = "--pc-sampling";
/// Option that names an input file.
const INPUT: &str = "--input";
/// Tokens of counters of one pass.
const COUNTER: &str = "pmc:";

struct Reading {
    table: &'static ProfilerOptions,
    tool: Profiler,
    items: BTreeSet<String>,
    /// Tokens switched off in words: nothing that implies them brings them back.
    denied: BTreeSet<String>,
    complete: bool,
    pmc_groups: Vec<Vec<String>>,
    filters: Vec<(String, String)>,
    unresolved_inputs: Vec<String>,
    unknown_options: Vec<String>,
    application: Option<String>,
}

impl Reading {
    fn new(tool: Profiler) -> Self {
        Self {
            table: collect::rocprofv3_options(),
            tool,
            items: BTreeSet::new(),
            denied: BTreeSet::new(),
            complete: true,
            pmc_groups: Vec::new(),
            filters: Vec::new(),
            unresolved_inputs: Vec::new(),
            unknown_options: Vec::new(),
            application: None,
        }
    }

    /// The program stands behind `--`.
    fn program(&mut self, words: &[String]) {
        let at = words.iter().position(|word| word == "--");
        self.application = at.and_then(|at| words.get(at + 1)).cloned();
    }

    fn options(&mut self, words: &[String]) {
        let own = words.split(|word| word == "--").next().unwrap_or_default();
        self.program(words);
        let mut rest = own;
        while let Some((word, after)) = rest.split_first() {
            rest = after;
            // A word that is neither an option nor an option's value says nothing about what is collected.
            if word.starts_with('-') {
                rest = self.option(word, after);
            }
        }
    }

    /// Reads one option; returns the words behind its values.
    fn option<'w>(&mut self, word: &'w str, after: &'w [String]) -> &'w [String] {
        let (name, attached) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        let Some(option) = self.table.find(name) else {
            self.unknown_options.push(name.to_owned());
            self.complete = false;
            if name == PC_SAMPLING_MISTAKEN {
                self.take_pc_sampling();
            }
            return after;
        };
        let (values, rest) = values(option.takes, attached, after);
        self.apply(option, &values);
        rest
    }

    fn take_pc_sampling(&mut self) {
        let token = self.table.find(PC_SAMPLING).and_then(|option| option.token.clone());
        self.items.extend(token);
    }

    fn apply(&mut self, option: &ProfilerOption, values: &[&str]) {
        match option.handling {
            Handling::Token => {
                let token = option.token.clone().unwrap_or_else(|| option.name.clone());
                if values.first().is_some_and(|value| boolean(value) == Some(false)) {
                    self.items.remove(&token);
                    self.denied.insert(token);
                } else {
                    self.denied.remove(&token);
                    self.items.insert(token);
                }
            }
            Handling::Values => self.values(option, values),
            Handling::Filter => {
                let value = if values.is_empty() { "true".to_owned() } else { values.join(" ") };
                self.filters.push((option.name.clone(), value));
            }
            Handling::Ignored => {}
            Handling::OpensResult => {
                self.complete = false;
                if option.name == INPUT {
                    self.unresolved_inputs.extend(values.iter().map(|value| (*value).to_owned()));
                }
            }
        }
    }

    fn values(&mut self, option: &ProfilerOption, values: &[&str]) {
        let token = option.token.as_deref().unwrap_or_default();
        if !token.ends_with(':') {
            self.items.insert(token.to_owned());
            return;
        }
        let names: Vec<String> = values
            .iter()
            .flat_map(|value| value.split(|c: char| c == ',' || c.is_whitespace()))
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect();
        self.items.extend(names.iter().map(|name| format!("{token}{name}")));
        if token == COUNTER {
            if !names.is_empty() {
                self.pmc_groups.push(names);
            }
        } else if self.table.find(PC_SAMPLING).is_some_and(|on| on.takes == Takes::Switch)
            && option.name.starts_with(PC_SAMPLING_MISTAKEN)
        {
            self.take_pc_sampling();
        }
    }

    fn finish(self) -> Fingerprint {
        let mut covers: BTreeSet<String> = BTreeSet::new();
        let mut open: Vec<String> = self.items.iter().cloned().collect();
        while let Some(token) = open.pop() {
            if let Some(more) = collect::implied().get(&token) {
                let wanted =
                    more.iter().filter(|more| !self.denied.contains(*more) && !covers.contains(*more));
                open.extend(wanted.cloned());
            }
            covers.insert(token);
        }
        Fingerprint {
            items: self.items.into_iter().collect(),
            covers: covers.into_iter().collect(),
            tool: self.tool,
            recognised: self.tool != Profiler::Unknown,
            complete: self.complete,
            pmc_groups: self.pmc_groups,
            filters: self.filters,
            unresolved_inputs: self.unresolved_inputs,
            unknown_options: self.unknown_options,
            application: self.application,
        }
    }
}

/// The values of an option, attached by `=` or standing behind it, and the words after them.
fn values<'w, 'a: 'w>(
    takes: Takes,
    attached: Option<&'a str>,
    after: &'w [String],
) -> (Vec<&'w str>, &'w [String]) {
    if let Some(value) = attached {
        return (vec![value], after);
    }
    let plain = after.iter().take_while(|word| !word.starts_with('-')).count();
    let count = match takes {
        Takes::Switch => usize::from(after.first().is_some_and(|word| boolean(word).is_some())),
        // A single value may start with a minus, such as a negative number, but not be an option.
        Takes::One => usize::from(after.first().is_some_and(|word| {
            collect::rocprofv3_options().find(word.split('=').next().unwrap_or_default()).is_none()
        })),
        Takes::Many | Takes::Optional => plain,
    };
    let (values, rest) = after.split_at_checked(count).unwrap_or((after, &[]));
    (values.iter().map(String::as_str).collect(), rest)
}

/// The boolean words a switch may be followed by.
fn boolean(word: &str) -> Option<bool> {
    match word.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" | "t" | "y" => Some(true),
        "false" | "no" | "off" | "0" | "f" | "n" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(command: &str) -> Fingerprint {
        of_command(command).unwrap()
    }

    #[test]
    fn switched_off_parts_are_not_covered() {
        let found = of("rocprofv3 -s --hsa-trace=false -- x");
        assert!(found.covers.iter().all(|token| !token.starts_with("--hsa")), "{:?}", found.covers);
        assert!(found.covers.contains(&"--hip-compiler-trace".to_owned()));
        let again = of("rocprofv3 -s --hsa-trace false --hsa-core-trace -- x");
        assert!(again.covers.contains(&"--hsa-core-trace".to_owned()));
        assert!(!again.covers.contains(&"--hsa-amd-trace".to_owned()));
    }

    #[test]
    fn passes_stay_apart_and_names_come_once() {
        let found = of("rocprofv3 --pmc=SQ_WAVES,GRBM_COUNT --pmc FETCH_SIZE SQ_WAVES -- x");
        assert_eq!(found.items, ["pmc:FETCH_SIZE", "pmc:GRBM_COUNT", "pmc:SQ_WAVES"]);
        assert_eq!(found.pmc_groups, [vec!["SQ_WAVES", "GRBM_COUNT"], vec!["FETCH_SIZE", "SQ_WAVES"]]);
    }

    #[test]
    fn a_mistaken_spelling_counts_but_is_reported() {
        let found = of("rocprofv3 --pc-sampling -- x");
        assert_eq!(found.items, ["--pc-sampling"]);
        assert_eq!(found.unknown_options, ["--pc-sampling"]);
        assert!(!found.complete);
        let method = of("rocprofv3 --pc-sampling-method stochastic -- x");
        assert_eq!(method.items, ["--pc-sampling", "pc_sampling:stochastic"]);
        assert!(method.complete);
    }

    #[test]
    fn order_and_output_options_do_not_change_the_identity() {
        let (a, b) =
            (of("rocprofv3 -s --stats -d a -- x"), of("rocprofv3 --stats --sys-trace -o b -d c -- y z"));
        assert_eq!(a.id(), b.id());
        let narrowed = of("rocprofv3 -s --stats --kernel-include-regex k -- x");
        assert_ne!(a.id(), narrowed.id());
        assert_eq!(narrowed.filters, [("--kernel-include-regex".to_owned(), "k".to_owned())]);
    }

    #[test]
    fn other_profilers_leave_the_answer_open() {
        let found = of("rocprof-compute profile -n run -- ./app");
        assert_eq!(found.items, ["tool:rocprof-compute"]);
        assert_eq!(found.application.as_deref(), Some("./app"));
        assert!(found.recognised && !found.complete);
        assert!(!of("ls -l").recognised);
    }
}
