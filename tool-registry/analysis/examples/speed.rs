//! Times the sweep alone, on rows already in memory: `cargo run --release -p perfxpert-analysis --example speed -- FILE`.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

use std::path::PathBuf;
use std::time::Instant;

use perfxpert_analysis::Nanos;
use perfxpert_analysis::sweep::{Limits, Plan, Sweep};
use perfxpert_trace::{Control, Dispatch, MemoryCopy, OpenOptions, Region, Select, Sweep as Rows, Trace};

enum Row {
    Dispatch(Dispatch),
    Copy(MemoryCopy),
    Region(Region),
}

#[derive(Default)]
struct Keep(Vec<Row>);

impl Rows for Keep {
    fn dispatch(&mut self, row: &Dispatch) {
        self.0.push(Row::Dispatch(*row));
    }
    fn copy(&mut self, row: &MemoryCopy) {
        self.0.push(Row::Copy(*row));
    }
    fn region(&mut self, row: &Region) {
        self.0.push(Row::Region(*row));
    }
}

fn main() {
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let trace = Trace::open(&paths, &OpenOptions::default()).expect("a trace");
    let select = Select { dispatches: true, copies: true, regions: true, ..Select::default() };
    let begin = Instant::now();
    let (rows, _) = trace.sweep(select, &Control::default(), Keep::default).expect("readable rows");
    println!("read {} rows in {:?}", rows.0.len(), begin.elapsed());
    for _ in 0..3 {
        let begin = Instant::now();
        let mut sweep = Sweep::new(&trace, Limits::from_facts(), Nanos::ZERO, Plan::default());
        for row in &rows.0 {
            match row {
                Row::Dispatch(row) => sweep.dispatch(row),
                Row::Copy(row) => sweep.copy(row),
                Row::Region(row) => sweep.region(row),
            }
        }
        let fed = begin.elapsed();
        let done = sweep.finish(false).is_ok();
        println!("swept in {fed:?}, with the profile {:?} ({done})", begin.elapsed());
    }
}
