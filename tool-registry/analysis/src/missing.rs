//! What a run does not tell, what it would be needed for, and the commands that collect it.

use perfxpert_knowledge::commands::{self, Command, Target};

use crate::RunProfile;
use crate::collection::{classify_passes, counter_commands};
use crate::gpu::Gpu;

/// Something that was not measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Missing {
    /// What (`hardware_counters`).
    pub metric: &'static str,
    /// What it would decide.
    pub needed_for: &'static str,
    /// Why it is not there; continues "because ...".
    pub reason: &'static str,
    /// Commands that collect it, in order, each with what it does.
    pub commands: Vec<(String, Command)>,
}

/// The program in every command: what it was called is not in a trace.
const APP: &str = "./your_app";
/// Output folder of every command.
const OUT: &str = "./profile_out";

/// What a run lacks, most needed first. Nothing is asked for that the trace already holds. `inputs` are its files as given.
#[must_use]
pub fn of_run(profile: &RunProfile, gpus: &[Gpu], has_counters: bool, inputs: &[&str]) -> Vec<Missing> {
    let target = Target { app: APP, out: OUT, kernel: None };
    let timeline = |does: &str| vec![(does.to_owned(), commands::sys_trace(&target))];
    let mut missing = Vec::new();
    if profile.rows.dispatches == 0 {
        missing.push(Missing {
            metric: "kernel_trace",
            needed_for: "kernel times and every share of the run",
            reason: if profile.judgeable() {
                "the trace holds copies but no kernel dispatch"
            } else {
                "the trace holds no kernel dispatch and no copy"
            },
            commands: timeline("Record kernels, copies and host calls"),
        });
    }
    if profile.rows.dispatches > 0 && !has_counters {
        missing.push(counters(gpus, &target, inputs));
    }
    if profile.judgeable() && !profile.host.api_known {
        missing.push(Missing {
            metric: "api_trace",
            needed_for: "why the GPU waits",
            reason: "the trace holds no HIP, HSA or RCCL call",
            commands: timeline("Record host calls beside kernels and copies"),
        });
    }
    if profile.health.get("no_copy_trace").is_some() {
        missing.push(Missing {
            metric: "copy_trace",
            needed_for: "time in copies between host and GPU",
            reason: "the trace holds copy calls but no copy",
            commands: timeline("Record copies beside kernels and host calls"),
        });
    }
    missing
}

fn counters(gpus: &[Gpu], target: &Target<'_>, inputs: &[&str]) -> Missing {
    let passes = classify_passes(gpus.first().and_then(|gpu| gpu.arch));
    let collect = counter_commands(&passes, target);
    let count = collect.len();
    let folders: Vec<String> = (1..=count).map(|pass| format!("{}_pmc{pass}", target.out)).collect();
    let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
    let numbered = collect.into_iter().zip(1..);
    let mut commands: Vec<(String, Command)> =
        numbered.map(|(command, pass)| (format!("Counters, pass {pass} of {count}"), command)).collect();
    let analyse = commands::analyze(inputs).named("--counters", &folders);
    commands.push(("Analyse the run together with its counters".to_owned(), analyse));
    Missing {
        metric: "hardware_counters",
        needed_for: "telling compute from memory bandwidth and latency",
        reason: "the trace holds no hardware counters",
        commands,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::tests::gpu;

    #[test]
    fn counters_of_a_gfx942_take_three_passes() {
        let target = Target { app: APP, out: OUT, kernel: None };
        let missing = counters(&[gpu("gfx942")], &target, &["results_results.db"]);
        let lines: Vec<String> = missing.commands.iter().map(|(_, command)| command.full_command()).collect();
        assert_eq!(
            lines,
            [
                "rocprofv3 --pmc SQ_WAVES GRBM_COUNT GRBM_GUI_ACTIVE SQ_WAVE_CYCLES SQ_ACTIVE_INST_VALU \
                 SQ_BUSY_CU_CYCLES SQ_VALU_MFMA_BUSY_CYCLES -d ./profile_out_pmc1 -- ./your_app",
                "rocprofv3 --pmc FETCH_SIZE -d ./profile_out_pmc2 -- ./your_app",
                "rocprofv3 --pmc WRITE_SIZE -d ./profile_out_pmc3 -- ./your_app",
                "perfxpert analyze -i results_results.db --counters ./profile_out_pmc1 ./profile_out_pmc2 \
                 ./profile_out_pmc3",
            ]
        );
        assert_eq!(missing.commands.first().map(|(does, _)| does.as_str()), Some("Counters, pass 1 of 3"));
    }
}
