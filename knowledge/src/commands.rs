//! Every command the product prints, assembled from the option tables and quoted for a POSIX shell.
//!
//! ```
//! use perfxpert_knowledge::commands::{self, Target};
//!
//! let target = Target { app: "./app", out: "perfxpert_out", kernel: Some("foo<int>(float*)") };
//! assert_eq!(
//!     commands::pmc(&target, &["SQ_WAVES"]).full_command(),
//!     r"rocprofv3 --pmc SQ_WAVES --kernel-include-regex 'foo<int>\(float\*\)' -d perfxpert_out -- ./app"
//! );
//! ```

use crate::arch::{Arch, PcSampling};
use crate::collect::{self, Since};

mod check;
mod shell;

pub use check::{CommandError, check, tables};
pub use shell::{UnbalancedQuote, escape_regex, quote, quote_always, split};

/// An option of rocprofv3 that printed commands use; a test finds each in the option table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opt {
    /// `--sys-trace`
    SysTrace,
    /// `--kernel-trace`
    KernelTrace,
    /// `--memory-copy-trace`
    MemoryCopyTrace,
    /// `--hip-runtime-trace`
    HipRuntimeTrace,
    /// `--hsa-core-trace`
    HsaCoreTrace,
    /// `--marker-trace`
    MarkerTrace,
    /// `--rccl-trace`
    RcclTrace,
    /// `--kfd-trace`
    KfdTrace,
    /// `--pmc`
    Pmc,
    /// `--att`
    Att,
    /// `--att-library-path`
    AttLibraryPath,
    /// `--att-target-cu`
    AttTargetCu,
    /// `--pc-sampling-beta-enabled`
    PcSampling,
    /// `--pc-sampling-method`
    PcSamplingMethod,
    /// `--pc-sampling-unit`
    PcSamplingUnit,
    /// `--pc-sampling-interval`
    PcSamplingInterval,
    /// `--kernel-include-regex`
    KernelIncludeRegex,
    /// `--output-format`
    OutputFormat,
    /// `-d`
    OutputDirectory,
    /// `-i`
    Input,
}

impl Opt {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::SysTrace,
        Self::KernelTrace,
        Self::MemoryCopyTrace,
        Self::HipRuntimeTrace,
        Self::HsaCoreTrace,
        Self::MarkerTrace,
        Self::RcclTrace,
        Self::KfdTrace,
        Self::Pmc,
        Self::Att,
        Self::AttLibraryPath,
        Self::AttTargetCu,
        Self::PcSampling,
        Self::PcSamplingMethod,
        Self::PcSamplingUnit,
        Self::PcSamplingInterval,
        Self::KernelIncludeRegex,
        Self::OutputFormat,
        Self::OutputDirectory,
        Self::Input,
    ];

    /// As printed.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SysTrace => "--sys-trace",
            Self::KernelTrace => "--kernel-trace",
            Self::MemoryCopyTrace => "--memory-copy-trace",
            Self::HipRuntimeTrace => "--hip-runtime-trace",
            Self::HsaCoreTrace => "--hsa-core-trace",
            Self::MarkerTrace => "--marker-trace",
            Self::RcclTrace => "--rccl-trace",
            Self::KfdTrace => "--kfd-trace",
            Self::Pmc => "--pmc",
            Self::Att => "--att",
            Self::AttLibraryPath => "--att-library-path",
            Self::AttTargetCu => "--att-target-cu",
            Self::PcSampling => "--pc-sampling-beta-enabled",
            Self::PcSamplingMethod => "--pc-sampling-method",
            Self::PcSamplingUnit => "--pc-sampling-unit",
            Self::PcSamplingInterval => "--pc-sampling-interval",
            Self::KernelIncludeRegex => "--kernel-include-regex",
            Self::OutputFormat => "--output-format",
            Self::OutputDirectory => "-d",
            Self::Input => "-i",
        }
    }
}

/// One argument of a command: an option with its values, or a plain word.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Argument {
    // An option, printed; or the placeholder of a plain word, not printed.
    name: String,
    plain: bool,
    values: Vec<String>,
    // Regular expressions are quoted even when a shell would not need it.
    always_quoted: bool,
}

/// A command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    tool: &'static str,
    subcommand: Option<&'static str>,
    arguments: Vec<Argument>,
    app: Option<String>,
}

impl Command {
    fn new(tool: &'static str) -> Self {
        Self { tool, subcommand: None, arguments: Vec::new(), app: None }
    }

    fn with_subcommand(tool: &'static str, subcommand: &'static str) -> Self {
        Self { subcommand: Some(subcommand), ..Self::new(tool) }
    }

    /// A rocprofv3 command; add options with [`Command::option`].
    pub fn rocprofv3() -> Self {
        Self::new("rocprofv3")
    }

    /// Adds an option of rocprofv3 with its values.
    #[must_use]
    pub fn option(self, option: Opt, values: &[&str]) -> Self {
        self.named(option.as_str(), values)
    }

    /// Adds an option by its spelling; [`check`] tells whether the tool has it.
    #[must_use]
    pub fn named(mut self, name: &str, values: &[&str]) -> Self {
        let values = values.iter().map(|value| (*value).to_owned()).collect();
        self.arguments.push(Argument { name: name.to_owned(), plain: false, values, always_quoted: false });
        self
    }

    fn word(mut self, placeholder: &str, word: &str) -> Self {
        let values = vec![word.to_owned()];
        self.arguments.push(Argument {
            name: placeholder.to_owned(),
            plain: true,
            values,
            always_quoted: false,
        });
        self
    }

    /// Restricts collection to one kernel: its name, escaped, as a regular expression. `None` adds nothing.
    #[must_use]
    pub fn only_kernel(mut self, kernel: Option<&str>) -> Self {
        if let Some(kernel) = kernel {
            self.arguments.push(Argument {
                name: Opt::KernelIncludeRegex.as_str().to_owned(),
                plain: false,
                values: vec![escape_regex(kernel)],
                always_quoted: true,
            });
        }
        self
    }

    /// The program to run, as the user would type it; line breaks become blanks.
    #[must_use]
    pub fn app(mut self, app: &str) -> Self {
        self.app = Some(app.split(|c: char| c.is_control()).collect::<Vec<_>>().join(" "));
        self
    }

    /// The executable.
    pub fn tool(&self) -> &'static str {
        self.tool
    }

    /// Options without a value, in order.
    pub fn flags(&self) -> Vec<&str> {
        self.arguments.iter().filter(|a| a.values.is_empty()).map(|a| a.name.as_str()).collect()
    }

    /// Options with values and plain words by their placeholder (`BASELINE`), in order; several values joined by
    /// blanks.
    pub fn args(&self) -> Vec<(String, String)> {
        let valued = self.arguments.iter().filter(|argument| !argument.values.is_empty());
        valued.map(|argument| (argument.name.clone(), argument.values.join(" "))).collect()
    }

    /// The line to paste into a POSIX shell.
    pub fn full_command(&self) -> String {
        let mut line = vec![self.tool.to_owned()];
        line.extend(self.subcommand.map(str::to_owned));
        for argument in &self.arguments {
            line.extend((!argument.plain).then(|| argument.name.clone()));
            let values = argument.values.iter();
            line.extend(values.map(|v| if argument.always_quoted { quote_always(v) } else { quote(v) }));
        }
        if let Some(app) = &self.app {
            line.push("--".to_owned());
            line.push(app.clone());
        }
        line.join(" ")
    }

    /// Options that old rocprofv3 releases lack; a printed command that uses one says so.
    pub fn newer_options(&self) -> Vec<&str> {
        if self.tool != "rocprofv3" {
            return Vec::new();
        }
        let names = self.arguments.iter().map(|argument| argument.name.as_str());
        let newer = |name: &&str| {
            collect::rocprofv3_options().find(name).is_some_and(|option| option.since == Some(Since::Newer))
        };
        names.filter(newer).collect()
    }
}

/// What to profile and where to put the result.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// The program as typed, `./app --steps 10`.
    pub app: &'a str,
    /// Output folder.
    pub out: &'a str,
    /// Only this kernel, by its full name.
    pub kernel: Option<&'a str>,
}

impl Target<'_> {
    fn finish(&self, command: Command) -> Command {
        command.only_kernel(self.kernel).option(Opt::OutputDirectory, &[self.out]).app(self.app)
    }
}

/// Timeline of everything: `rocprofv3 --sys-trace --output-format rocpd -d OUT -- APP`. The kernel of the
/// target does not narrow it.
pub fn sys_trace(target: &Target<'_>) -> Command {
    let command = Command::rocprofv3().option(Opt::SysTrace, &[]).option(Opt::OutputFormat, &["rocpd"]);
    Target { kernel: None, ..*target }.finish(command)
}

/// Chosen trace options: `rocprofv3 --rccl-trace --kernel-trace ... -d OUT -- APP`.
pub fn traces(target: &Target<'_>, options: &[Opt]) -> Command {
    let command = options.iter().fold(Command::rocprofv3(), |command, option| command.option(*option, &[]));
    target.finish(command)
}

/// One counter pass: `rocprofv3 --pmc A B -d OUT -- APP`.
pub fn pmc(target: &Target<'_>, counters: &[&str]) -> Command {
    target.finish(Command::rocprofv3().option(Opt::Pmc, counters))
}

/// Thread trace: needs the trace decoder library under `/opt/rocm/lib`.
pub fn thread_trace(target: &Target<'_>) -> Command {
    let command = Command::rocprofv3()
        .option(Opt::Att, &[])
        .option(Opt::AttLibraryPath, &["/opt/rocm/lib"])
        .option(Opt::AttTargetCu, &["1"]);
    target.finish(command)
}

/// PC sampling: stochastic with stall reasons where the GPU has it, else host trap. With no architecture host
/// trap, which every GPU with PC sampling has.
pub fn pc_sampling(target: &Target<'_>, arch: Option<&Arch>) -> Command {
    let stochastic = arch.is_some_and(|arch| arch.pc_sampling == PcSampling::Stochastic);
    // 2^20 cycles: shorter intervals perturb the program.
    let (method, unit, interval) =
        if stochastic { ("stochastic", "cycles", "1048576") } else { ("host_trap", "time", "1") };
    let command = Command::rocprofv3()
        .option(Opt::PcSampling, &[])
        .option(Opt::PcSamplingMethod, &[method])
        .option(Opt::PcSamplingUnit, &[unit])
        .option(Opt::PcSamplingInterval, &[interval]);
    Target { kernel: None, ..*target }.finish(command)
}

/// Counter passes from a file of `pmc:` lines: `rocprofv3 -i FILE -- APP`.
pub fn pmc_file(file: &str, app: &str) -> Command {
    Command::rocprofv3().option(Opt::Input, &[file]).app(app)
}

/// `rocprof-compute profile -n NAME -- APP`.
pub fn rocprof_compute_profile(name: &str, app: &str) -> Command {
    Command::with_subcommand("rocprof-compute", "profile").named("-n", &[name]).app(app)
}

/// `rocprof-compute analyze -p DIR`.
pub fn rocprof_compute_analyze(dir: &str) -> Command {
    Command::with_subcommand("rocprof-compute", "analyze").named("-p", &[dir])
}

/// `rocprof-sys-sample -- APP`.
pub fn rocprof_sys_sample(app: &str) -> Command {
    Command::new("rocprof-sys-sample").app(app)
}

/// `amd-smi metric --json --watch SECONDS`; the caller redirects it to a file.
pub fn amd_smi_watch(seconds: u32) -> Command {
    Command::with_subcommand("amd-smi", "metric")
        .named("--json", &[])
        .named("--watch", &[&seconds.to_string()])
}

/// `perfxpert analyze -i INPUT ...`; add `--counters` or `--att-dir` with [`Command::named`].
pub fn analyze(inputs: &[&str]) -> Command {
    Command::with_subcommand("perfxpert", "analyze").named("-i", inputs)
}

/// `perfxpert diff BEFORE AFTER`.
pub fn diff(before: &str, after: &str) -> Command {
    Command::with_subcommand("perfxpert", "diff").word("BASELINE", before).word("NEW", after)
}

/// `perfxpert ci BASELINE NEW`.
pub fn ci(baseline: &str, new: &str) -> Command {
    Command::with_subcommand("perfxpert", "ci").word("BASELINE", baseline).word("NEW", new)
}
