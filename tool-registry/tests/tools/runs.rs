//! Small runs for comparisons: kernels back to back on one stream, each of the same size.

use perfxpert_fixtures::{Direction, KernelSpec, TraceBuilder, TraceFile};
use serde_json::{Value, json};

/// A trace of these kernels, each called once for each of its durations (ns).
pub(crate) fn run(kernels: &[(&str, &[i64])]) -> TraceFile {
    build(kernels, None)
}

/// As [`run`], with single calls.
pub(crate) fn single(kernels: &[(&str, i64)]) -> TraceFile {
    let kernels: Vec<(&str, [i64; 1])> = kernels.iter().map(|(name, time)| (*name, [*time])).collect();
    let kernels: Vec<(&str, &[i64])> = kernels.iter().map(|(name, times)| (*name, &times[..])).collect();
    build(&kernels, None)
}

/// As [`single`], with a copy that ends when the run does: `elapsed` ns after the start.
pub(crate) fn elapsed(kernels: &[(&str, i64)], elapsed: i64) -> TraceFile {
    let kernels: Vec<(&str, [i64; 1])> = kernels.iter().map(|(name, time)| (*name, [*time])).collect();
    let kernels: Vec<(&str, &[i64])> = kernels.iter().map(|(name, times)| (*name, &times[..])).collect();
    build(&kernels, Some(elapsed))
}

fn build(kernels: &[(&str, &[i64])], elapsed: Option<i64>) -> TraceFile {
    let mut trace = TraceBuilder::new();
    let gpu = trace.gpu("mi300x");
    let mut now = 0;
    for (name, times) in kernels {
        let kernel = trace.kernel(KernelSpec::new(name));
        for time in *times {
            trace.dispatch(gpu, kernel, now..now + time);
            now += time;
        }
    }
    if let Some(end) = elapsed {
        assert!(end > now, "the copy ends the run");
        trace.copy(Direction::HostToDevice, gpu, 4096, end - 1..end);
    }
    trace.build().unwrap()
}

/// A trace with a host call and nothing on a GPU.
pub(crate) fn without_gpu_work() -> TraceFile {
    let mut trace = TraceBuilder::new();
    trace.gpu("mi300x");
    trace.hip("hipInit", 0..1000);
    trace.build().unwrap()
}

/// The path as an argument.
pub(crate) fn path(file: &TraceFile) -> Value {
    json!(file.path())
}
