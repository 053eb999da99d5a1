//! Times one sweep over a trace: `cargo run --release -p perfxpert-trace --example sweep -- FILE...`.

use std::path::PathBuf;
use std::time::Instant;

use perfxpert_trace::{
    Control, CounterSweep, CounterValue, Dispatch, MemoryCopy, OpenOptions, Region, Select, Sweep, Trace,
};

#[derive(Default)]
struct Totals {
    dispatches: u64,
    kernel_ns: i64,
    copies: u64,
    calls: u64,
    call_ns: i64,
    values: u64,
    sum: f64,
}

impl Sweep for Totals {
    fn dispatch(&mut self, row: &Dispatch) {
        self.dispatches += 1;
        self.kernel_ns += row.end - row.start;
    }
    fn copy(&mut self, _row: &MemoryCopy) {
        self.copies += 1;
    }
    fn region(&mut self, row: &Region) {
        self.calls += 1;
        self.call_ns += row.end - row.start;
    }
}

impl CounterSweep for Totals {
    fn counters(&mut self, _dispatch: &Dispatch, values: &[CounterValue]) {
        self.dispatches += 1;
        self.values += values.len() as u64;
        self.sum += values.iter().map(|value| value.sum).sum::<f64>();
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let begin = Instant::now();
    let trace = Trace::open(&files, &OpenOptions { allow_partial: true, ..OpenOptions::default() })?;
    println!("open {:?}", begin.elapsed());
    for _ in 0..2 {
        let begin = Instant::now();
        let (totals, report) = trace.sweep(Select::ALL, &Control::default(), Totals::default)?;
        println!(
            "sweep {:?}: {} dispatches {} ns, {} copies, {} calls {} ns; left out {}",
            begin.elapsed(),
            totals.dispatches,
            totals.kernel_ns,
            totals.copies,
            totals.calls,
            totals.call_ns,
            report.rows.left_out
        );
        for item in report.health.items() {
            println!("  {} {} {}: {}", item.severity.label(), item.id, item.count, item.message);
        }
    }
    if trace.processes().iter().any(|process| process.has.counters) {
        let begin = Instant::now();
        let (totals, report) = trace.counters(&Control::default(), Totals::default)?;
        println!(
            "counters {:?}: {} dispatches, {} values, {} rows, sum {}",
            begin.elapsed(),
            totals.dispatches,
            totals.values,
            report.rows.counter_values,
            totals.sum
        );
    }
    Ok(())
}
