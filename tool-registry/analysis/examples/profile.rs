//! Profiles rocpd files and prints where the time went: `cargo run -p perfxpert-analysis --example profile -- FILE...`.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

use std::path::PathBuf;
use std::time::Instant;

use perfxpert_analysis::profile::GapCause;
use perfxpert_analysis::{Nanos, sweep};
use perfxpert_trace::{Control, OpenOptions, Trace};

fn main() {
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let begin = Instant::now();
    let trace =
        Trace::open(&paths, &OpenOptions { allow_partial: true, ..OpenOptions::default() }).expect("a trace");
    println!("open {:?}", begin.elapsed());
    let begin = Instant::now();
    let (profile, report) = sweep::profile(&trace, Nanos::ZERO, &Control::default()).expect("readable rows");
    println!("profile {:?}, {:?}", begin.elapsed(), report.rows);
    println!("{:?} of {:?}", profile.parts(), profile.total_runtime());
    for agent in &profile.agents {
        println!("{:?}", agent.times);
    }
    for kernel in profile.kernels.iter().take(10) {
        println!("{:.60} {} {} {:?}", kernel.name, kernel.category.as_str(), kernel.calls, kernel.durations);
    }
    for copy in &profile.copies {
        println!(
            "{} {:?} busy {:?} exposed {:?}",
            copy.direction.label(),
            copy.durations,
            copy.busy,
            copy.exposed
        );
    }
    for cause in GapCause::ALL {
        println!("gaps {} {:?}", cause.label(), profile.gaps.of(cause));
    }
    for call in profile.calls.iter().take(10) {
        println!(
            "{} {} total {:?} own {:?} exposed {:?}",
            call.text, call.calls, call.total, call.own, call.exposed
        );
    }
    println!("{:?}", profile.host);
    println!("pairs {} repeated {:?}", profile.pairs.len(), profile.repeated);
    for item in trace.health().items().iter().chain(report.health.items()).chain(profile.health.items()) {
        println!("{} {} {}: {}", item.severity.label(), item.id, item.count, item.message);
    }
}
