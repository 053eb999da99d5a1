//! `workflow`: turns the table of next steps into commands.

use perfxpert_analysis::collection;
use perfxpert_knowledge::arch::{Arch, PcSampling};
use perfxpert_knowledge::collect::{self, NextStep};
use perfxpert_knowledge::commands::{self, Command, Target};
use perfxpert_schemas::ErrorObject;
use perfxpert_schemas::tools::workflow as wire;

use crate::arguments::unknown_name;
use crate::{Context, Tool, device, tool};

pub(crate) fn entries() -> Vec<Tool> {
    vec![tool::<wire::NextStep>(
        "Next profiling step",
        "The next profiling action for a tier and a goal, with the exact command. Use profiling_fill_gap when you know what is already collected.",
        next_step,
    )]
}

/// A step as the answer shows it, before tier, phase and notes.
struct Plan {
    action: String,
    commands: Vec<Command>,
    reason: String,
    then: (u8, &'static str),
}

fn next_step(_: &Context, input: wire::NextStepInput) -> Result<wire::NextStepOutput, ErrorObject> {
    let goal = input.goal.trim();
    let table = collect::workflow();
    let Some((goal, steps)) = table.get_key_value(goal) else {
        return Err(unknown_name("goal", goal, table.keys().map(String::as_str), "goal"));
    };
    let arch = match &input.gfx_id {
        Some(id) => Some(device::architecture("gfx_id", id)?),
        None => None,
    };
    let row = steps.get(usize::from(input.tier)).ok_or_else(ErrorObject::internal)?;
    let target = Target { app: &input.app, out: &input.out, kernel: input.kernel.as_deref() };
    let (step, next_tier, instead) = supported(row, arch);
    let plan = plan(step, goal, &input, arch, &target);
    let mut notes: Vec<String> = Vec::new();
    if step == "thread_trace" {
        notes.push("Thread trace needs the trace decoder library under /opt/rocm/lib.".to_owned());
    }
    let mut newer: Vec<&str> = plan.commands.iter().flat_map(Command::newer_options).collect();
    newer.dedup();
    if !newer.is_empty() {
        notes.push(format!("Older rocprofv3 releases lack {}.", newer.join(", ")));
    }
    let commands: Vec<String> = plan.commands.iter().map(Command::full_command).collect();
    let phase = match row.phase.as_str() {
        "optimize" => wire::Phase::Optimize,
        "reprofile" => wire::Phase::Reprofile,
        "analyze" => wire::Phase::Analyze,
        "build" => wire::Phase::Build,
        _ => wire::Phase::Profile,
    };
    let (tier, goal) = plan.then;
    Ok(wire::NextStepOutput {
        next_tier,
        action: plan.action,
        phase,
        command: commands.first().cloned(),
        command_reason: commands
            .is_empty()
            .then_some("this step changes or builds the program; no tool does it"),
        commands,
        reason: match instead {
            Some(why) => format!("{why} {}", plan.reason),
            None => plan.reason,
        },
        then: wire::Then { tier, goal: goal.to_owned() },
        notes,
    })
}

/// The step an architecture can really do, the tier it leads to, and why it is another one.
fn supported(row: &'static NextStep, arch: Option<&Arch>) -> (&'static str, u8, Option<String>) {
    const COUNTERS: (&str, u8) = ("counters", 2);
    let step = row.step.as_str();
    let Some(arch) = arch else { return (step, row.next_tier, None) };
    match step {
        "thread_trace" | "pc_sampling" if !arch.thread_trace => (
            COUNTERS.0,
            COUNTERS.1,
            Some(format!("{} supports neither PC sampling nor thread trace.", arch.gfx_id)),
        ),
        "pc_sampling" if arch.pc_sampling == PcSampling::None => (
            "thread_trace",
            row.next_tier,
            Some(format!("PC sampling starts at gfx90a; {} has thread trace instead.", arch.gfx_id)),
        ),
        _ => (step, row.next_tier, None),
    }
}

fn plan(
    step: &str,
    goal: &str,
    input: &wire::NextStepInput,
    arch: Option<&Arch>,
    target: &Target<'_>,
) -> Plan {
    let with_suffix = |suffix: &str| format!("{}_{suffix}", input.out);
    match step {
        "counters" => {
            let passes = collection::classify_passes(arch);
            let commands = collection::counter_commands(&passes, target);
            let first = passes.first().map(|counters| counters.join(" ")).unwrap_or_default();
            Plan {
                action: format!("rocprofv3 --pmc {first}"),
                commands,
                reason: "Counters tell compute from memory; each pass fits the hardware, and bytes read and written \
                         are counted alone."
                    .to_owned(),
                then: (2, "classify"),
            }
        }
        "thread_trace" => {
            let command = commands::thread_trace(&Target { out: &with_suffix("att"), ..*target });
            Plan {
                action: command.full_command(),
                commands: vec![command],
                reason: "A thread trace shows which instructions of the hot kernel stall.".to_owned(),
                then: (3, "optimize"),
            }
        }
        "pc_sampling" => {
            let command = commands::pc_sampling(&Target { out: &with_suffix("pcs"), ..*target }, arch);
            let stochastic = arch.is_some_and(|arch| arch.pc_sampling == PcSampling::Stochastic);
            Plan {
                action: command.full_command(),
                commands: vec![command],
                reason: if stochastic {
                    "Stochastic PC sampling shows where waves are and why they stall."
                } else {
                    "PC sampling shows where waves spend their time."
                }
                .to_owned(),
                then: (3, "optimize"),
            }
        }
        "analyze" => Plan {
            action: "analyse the trace".to_owned(),
            commands: vec![commands::analyze(&[&input.out])],
            reason: "The data is there; read what bounds the run before collecting more.".to_owned(),
            then: if input.tier < 2 { (1, "measure") } else { (2, "optimize") },
        },
        "optimize" => {
            // Stalls of the thread trace come before the first recommendation.
            let stalls = commands::analyze(&[&input.out]).named("--att-dir", &[&with_suffix("att")]);
            let reads_stalls = input.tier == 3;
            Plan {
                action: "apply the first recommendation".to_owned(),
                commands: if reads_stalls { vec![stalls] } else { Vec::new() },
                reason: if reads_stalls {
                    "The command reads the stalls first; then change one thing."
                } else {
                    "Change one thing at a time, so that its effect can be measured."
                }
                .to_owned(),
                then: (input.tier, "build"),
            }
        }
        "build" => Plan {
            action: "rebuild the program".to_owned(),
            commands: Vec::new(),
            reason: "The change must be in the binary before it is measured.".to_owned(),
            then: (input.tier, "verify"),
        },
        "verify" => {
            let after = with_suffix("after");
            let record = commands::sys_trace(&Target { out: &after, ..*target });
            Plan {
                action: "rocprofv3 --sys-trace".to_owned(),
                commands: vec![record, commands::diff(&input.out, &after)],
                reason: "Record the changed program the same way, then compare both runs.".to_owned(),
                then: (1, "classify"),
            }
        }
        _ => Plan {
            action: "rocprofv3 --sys-trace".to_owned(),
            commands: vec![commands::sys_trace(target)],
            reason: "A timeline comes first: it shows copies, host calls, idle time and the hot kernels."
                .to_owned(),
            then: (1, after_trace(goal)),
        },
    }
}

/// What to ask once a trace is there.
fn after_trace(goal: &str) -> &'static str {
    match goal {
        "measure" => "measure",
        "deep" => "deep",
        "pc_sampling" => "pc_sampling",
        "optimize" => "optimize",
        _ => "classify",
    }
}
