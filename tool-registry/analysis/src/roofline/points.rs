//! Points of the roofline: operations and bytes of each kernel from its counters, against the peaks of its GPU.

use std::collections::{BTreeMap, BTreeSet};

use perfxpert_knowledge::arch::{Family, Sku};
use perfxpert_knowledge::counters::{caveats, resolve};
use perfxpert_knowledge::thresholds;

use super::dtype::{Dtype, KINDS, Kind};
use super::means::{Bytes, Means, Side};
use super::{Distance, Regime, Roof, distance};
use crate::RunProfile;
use crate::counters::CounterProfile;
use crate::gpu::{Gpu, SkuSource};
use crate::profile::Text;
use crate::units::Nanos;

/// What a caller may say about the plot.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ask<'a> {
    /// Only kernels of this name.
    pub kernel: Option<&'a str>,
    /// Number format of kernels whose counters do not tell.
    pub hint: Option<Dtype>,
    /// Product whose peaks to use.
    pub sku: Option<&'static Sku>,
}

/// Where a number format comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DtypeSource {
    /// Operations were counted by format.
    Counters,
    /// The caller said it.
    Hint,
    /// A word of the kernel's name.
    Name,
    /// Nothing says it.
    Default,
}

impl DtypeSource {
    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Counters => "from_counters",
            Self::Hint => "hint",
            Self::Name => "from_kernel_name",
            Self::Default => "default",
        }
    }
}

/// The pipe most operations ran on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pipe {
    /// Matrix units only.
    Matrix,
    /// Vector units only.
    Vector,
    /// Both.
    Mixed,
}

impl Pipe {
    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Matrix => "matrix",
            Self::Vector => "vector",
            Self::Mixed => "mixed",
        }
    }
}

/// One kernel on the roofline. Nothing is rounded.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Cleaned name, whole.
    pub name: Text,
    /// Operations per byte.
    pub intensity: f64,
    /// Operations per second; `None` when the dispatches took no time.
    pub rate: Option<f64>,
    /// Floating-point operations of all its dispatches.
    pub flops: f64,
    /// Integer operations of the matrix units.
    pub int_ops: f64,
    /// Operations by format, where counted.
    pub by_type: BTreeMap<Dtype, f64>,
    /// Bytes moved by all its dispatches.
    pub bytes: u64,
    /// Their time.
    pub time: Nanos,
    /// Percent of all kernel time.
    pub time_pct: f64,
    /// Format of most operations.
    pub dtype: Dtype,
    /// Where that comes from.
    pub dtype_source: DtypeSource,
    /// Operations were counted by format, not estimated from instructions.
    pub typed: bool,
    /// Side of its ridge; `None` is unknown.
    pub class: Option<Regime>,
    /// Whether operations and bytes are both known.
    pub confident: bool,
    /// Why the class is unknown or the confidence low, or why there is no percentage of the roof.
    pub reason: Option<String>,
    /// Peak of its mix of operations and bandwidth; `None` for an unknown GPU.
    pub roof: Option<Roof>,
    /// Percent of the roof it reaches; `None` when unknown, or above 100.
    pub roof_pct: Option<f64>,
    /// Dispatches.
    pub dispatches: u64,
    /// Where its operations ran.
    pub pipe: Pipe,
}

impl Point {
    /// Operations its rate counts: integer ones for INT8, else floating-point ones.
    #[must_use]
    pub fn operations(&self) -> f64 {
        if self.dtype == Dtype::Int8 && self.int_ops > self.flops { self.int_ops } else { self.flops }
    }

    /// Operations per second that the lower roof allows here.
    #[must_use]
    pub fn attainable(&self) -> Option<f64> {
        self.roof.map(|roof| roof.attainable(self.intensity))
    }
}

/// Why a kernel has no point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Skip {
    /// No counter of memory traffic.
    NoBytes,
    /// No counted operation.
    NoOperations,
    /// The traffic formula gives less than nothing.
    NegativeBytes,
    /// All its counters are 0.
    ZeroCounters,
}

impl Skip {
    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoBytes => "no_bytes",
            Self::NoOperations => "no_operations",
            Self::NegativeBytes => "negative_bytes",
            Self::ZeroCounters => "zero_counters",
        }
    }
}

/// The GPU whose roofs are drawn.
#[derive(Clone, Debug)]
pub struct Roofs {
    /// Architecture with most kernel time.
    pub arch: Option<String>,
    /// Product; `None` for an unknown architecture.
    pub sku: Option<&'static Sku>,
    /// What the choice of the product rests on: sku, name, device_id, cu_count, default.
    pub sku_selected_by: Option<&'static str>,
    /// Peak memory bandwidth, bytes per second; `None` for an unknown architecture or a partition.
    pub bandwidth: Option<f64>,
}

impl Roofs {
    /// Roofs of a format.
    #[must_use]
    pub fn of(&self, dtype: Dtype) -> Option<Roof> {
        Some(Roof { peak: dtype.peak(&self.sku?.peaks)?, bandwidth: self.bandwidth? })
    }
}

/// The roofline of a run.
#[derive(Clone, Debug)]
pub struct Plot {
    /// The GPU.
    pub roofs: Roofs,
    /// Format with most kernel time.
    pub dtype: Dtype,
    /// Where that comes from.
    pub dtype_source: DtypeSource,
    /// Points by time descending, then name.
    pub points: Vec<Point>,
    /// Kernels with counters and without a point, by name.
    pub skipped: Vec<(Text, Skip)>,
    /// Other architectures, and their kernels with counters.
    pub other_archs: Vec<(String, u64)>,
    /// Counters nothing is known about.
    pub ignored_counters: Vec<Text>,
    /// Counters that would have told more.
    pub missing: Vec<&'static str>,
    /// What to say beside it.
    pub notes: Vec<String>,
}

/// The GPU whose roofs are drawn: of the architecture with most kernel time.
#[must_use]
pub fn roofs(run: &RunProfile, gpus: &[Gpu], sku: Option<&'static Sku>) -> Roofs {
    let mut times: BTreeMap<Option<&str>, Nanos> = BTreeMap::new();
    for (agent, gpu) in run.agents.iter().zip(gpus) {
        *times.entry(gpu.gfx_id.as_deref()).or_default() += agent.times.dispatch_sum;
    }
    // The first of equals: names are in order.
    let most = times.iter().rev().max_by_key(|(_, time)| **time).and_then(|(gfx, _)| *gfx);
    let gpu = gpus.iter().find(|gpu| gpu.gfx_id.as_deref() == most);
    let Some(gpu) = gpu else {
        return Roofs { arch: None, sku: None, sku_selected_by: None, bandwidth: None };
    };
    let named =
        sku.filter(|named| gpu.arch.is_some_and(|arch| arch.skus.iter().any(|own| own.sku == named.sku)));
    let by = match gpu.sku_source {
        _ if named.is_some() => Some("sku"),
        SkuSource::Trace => Some("name"),
        SkuSource::DeviceId => Some("device_id"),
        SkuSource::CuCount => Some("cu_count"),
        SkuSource::GfxOnly => Some("default"),
        SkuSource::Unknown => None,
    };
    let bandwidth = match named {
        Some(sku) => Some(sku.bandwidth_bytes_per_s()),
        None => gpu.hbm_peak.map(|peak| peak.0),
    };
    Roofs { arch: gpu.gfx_id.clone(), sku: named.or(gpu.sku), sku_selected_by: by, bandwidth }
}

/// Points of all kernels with counters on the architecture with most kernel time. `gpus` are those of the run.
#[must_use]
pub fn plot(run: &RunProfile, gpus: &[Gpu], counters: &CounterProfile, ask: &Ask<'_>) -> Plot {
    let roofs = roofs(run, gpus, ask.sku);
    let whole = run.kernel_sum();
    let here = |device: usize| {
        counters.devices.get(device).is_some_and(|gpu| gpu.gfx_id.as_deref() == roofs.arch.as_deref())
    };
    let mut points = Vec::new();
    let mut skipped = Vec::new();
    let mut others: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    let mut notes: Vec<String> = Vec::new();
    let mut overruled = false;
    let wanted = counters
        .kernels
        .iter()
        .filter(|kernel| ask.kernel.is_none_or(|name| kernel.name.as_ref() == name.trim()));
    for kernel in wanted {
        for group in kernel.groups.iter().filter(|group| !here(group.device)) {
            let gpu = counters.devices.get(group.device);
            let gfx = gpu.and_then(|gpu| gpu.gfx_id.clone()).unwrap_or_else(|| "unknown".to_owned());
            others.entry(gfx).or_default().insert(&kernel.name);
        }
        let groups: Vec<_> = kernel.groups.iter().filter(|group| here(group.device)).collect();
        let Some(gpu) = groups.first().and_then(|group| counters.devices.get(group.device)) else {
            if kernel.groups.is_empty() {
                skipped.push((Text::clone(&kernel.name), Skip::ZeroCounters));
            }
            continue;
        };
        let mut means = Means::new(counters, &groups, gpu);
        match point(&kernel.name, &mut means, &roofs, ask.hint) {
            Ok(mut found) => {
                found.time_pct =
                    if whole == Nanos::ZERO { 0.0 } else { 100.0 * found.time.as_f64() / whole.as_f64() };
                overruled |= ask
                    .hint
                    .is_some_and(|hint| found.dtype_source == DtypeSource::Counters && hint != found.dtype);
                points.push(found);
            }
            Err(skip) => skipped.push((Text::clone(&kernel.name), skip)),
        }
    }
    points.sort_by(|one, other| other.time.cmp(&one.time).then_with(|| one.name.cmp(&other.name)));
    let (dtype, dtype_source) = dominant(&points, ask.hint);
    if overruled {
        notes.push("dtype_hint was not used where counters tell the format.".to_owned());
    }
    if points.iter().any(|point| point.typed && point.pipe != Pipe::Matrix) {
        notes.push("Vector operations assume full waves; a packed FP32 instruction counts once.".to_owned());
    }
    for name in ["FETCH_SIZE", "WRITE_SIZE"] {
        if counters.position(name).is_some() {
            let general = caveats(name, None);
            let own = caveats(name, roofs.arch.as_deref());
            notes.extend(
                own.into_iter().filter(|text| !general.contains(text)).map(|text| format!("{name}: {text}.")),
            );
        }
    }
    if roofs.sku.is_some_and(|sku| sku.infinity_cache_mib.is_some()) && !points.is_empty() {
        notes.push(
            "Bytes are traffic between L2 and fabric: what the Infinity Cache serves is included.".to_owned(),
        );
    }
    Plot {
        dtype,
        dtype_source,
        points,
        skipped,
        other_archs: others.into_iter().map(|(arch, kernels)| (arch, kernels.len() as u64)).collect(),
        ignored_counters: counters.names.iter().filter(|name| resolve(name).is_none()).cloned().collect(),
        missing: missing(counters, &roofs),
        notes,
        roofs,
    }
}

/// Counters that were not collected at all and would have told more.
fn missing(counters: &CounterProfile, roofs: &Roofs) -> Vec<&'static str> {
    let has = |name: &str| counters.position(name).is_some();
    let raw = |part: &str| counters.names.iter().any(|name| name.contains(part));
    let mut missing = Vec::new();
    if !has("FETCH_SIZE") && !raw("RDREQ") {
        missing.push("FETCH_SIZE");
    }
    if !has("WRITE_SIZE") && !raw("WRREQ") {
        missing.push("WRITE_SIZE");
    }
    let typed = KINDS.iter().any(|kind| {
        let names = super::means::names_of(kind.metric, roofs.arch.as_deref());
        names.iter().any(|name| has(name))
    });
    if !typed {
        let arch = roofs.arch.as_deref().and_then(perfxpert_knowledge::arch::find);
        let passes = crate::collection::typed_operation_passes(arch);
        let names = passes.into_iter().flatten().map(String::as_str);
        missing.extend(names.filter(|name| !has(name)));
        if missing.len() < 3 && !has("SQ_INSTS_VALU") && !missing.contains(&"SQ_INSTS_VALU") {
            missing.push("SQ_INSTS_VALU");
        }
    }
    missing
}

fn dominant(points: &[Point], hint: Option<Dtype>) -> (Dtype, DtypeSource) {
    let mut times: BTreeMap<Dtype, Nanos> = BTreeMap::new();
    for point in points {
        *times.entry(point.dtype).or_default() += point.time;
    }
    let most = times.iter().rev().max_by_key(|(_, time)| **time).map(|(dtype, _)| *dtype);
    match (most, hint) {
        (Some(dtype), _) => {
            let source = points.iter().find(|point| point.dtype == dtype).map(|point| point.dtype_source);
            (dtype, source.unwrap_or(DtypeSource::Default))
        }
        (None, Some(hint)) => (hint, DtypeSource::Hint),
        (None, None) => (Dtype::Fp32, DtypeSource::Default),
    }
}

/// Operations of one dispatch.
struct Work {
    /// Counted, by kind.
    counted: Vec<(Kind, f64)>,
    /// Estimated from vector instructions, when none of their formats was counted.
    estimate: Option<f64>,
    /// Most operations it can be; `None` when that is not bounded.
    upper: Option<f64>,
    /// Matrix instructions ran, and no counter tells their operations.
    matrix_unknown: bool,
}

fn work(means: &mut Means<'_>, gpu_family: Option<Family>) -> Work {
    let mut counted: Vec<(Kind, f64)> = Vec::new();
    let mut vector = false;
    let mut matrix = false;
    for kind in KINDS {
        if let Some(operations) = means.operations(kind.metric) {
            vector |= !kind.matrix;
            matrix |= kind.matrix;
            if operations > 0.0 {
                counted.push((kind, operations));
            }
        }
    }
    let instructions = means.mean("SQ_INSTS_MFMA");
    let matrix_unknown = !matrix && instructions.is_some_and(|count| count > 0.0);
    let matrix_flops: f64 =
        counted.iter().filter(|(kind, _)| kind.dtype != Dtype::Int8).map(|(_, operations)| operations).sum();
    let estimate = if vector { None } else { means.mean("SQ_INSTS_VALU") }.map(|all| {
        let lanes = means.lanes(gpu_family);
        (all - all.min(instructions.unwrap_or(0.0))) * lanes
    });
    let bounded = matrix || instructions == Some(0.0);
    let upper = estimate
        .filter(|_| bounded)
        .map(|estimate| thresholds::roofline().estimate_factor * estimate + matrix_flops);
    Work { counted, estimate, upper, matrix_unknown }
}

fn point(name: &Text, means: &mut Means<'_>, roofs: &Roofs, hint: Option<Dtype>) -> Result<Point, Skip> {
    let family = means.gpu().arch.map(|arch| arch.family);
    let work = work(means, family);
    let bytes = means.bytes();
    if means.all_zero() {
        return Err(Skip::ZeroCounters);
    }
    let (per_dispatch, whole) = match bytes {
        Bytes { read: Side::Unknown, written: Side::Unknown } => return Err(Skip::NoBytes),
        Bytes { read, written } => {
            let known = |side: Side| if let Side::Known(bytes) = side { bytes } else { 0.0 };
            if known(read) < 0.0 || known(written) < 0.0 {
                return Err(Skip::NegativeBytes);
            }
            let whole = matches!((read, written), (Side::Known(_), Side::Known(_)));
            (known(read) + known(written), whole)
        }
    };
    let dispatches = means.dispatches();
    let times = crate::counters::count_of(dispatches);
    let bytes = truncated(per_dispatch * times);
    if bytes == 0 {
        return Err(Skip::ZeroCounters);
    }
    let mut by_type: BTreeMap<Dtype, f64> = BTreeMap::new();
    for (kind, operations) in &work.counted {
        *by_type.entry(kind.dtype).or_default() += operations * times;
    }
    let int_ops = by_type.get(&Dtype::Int8).copied().unwrap_or(0.0);
    let counted: f64 = by_type.iter().filter(|(dtype, _)| **dtype != Dtype::Int8).map(|(_, ops)| ops).sum();
    let flops = counted + work.estimate.unwrap_or(0.0) * times;
    if flops == 0.0 && int_ops == 0.0 {
        return Err(Skip::NoOperations);
    }
    let (dtype, dtype_source) = dtype(name, &by_type, hint);
    let operations = if dtype == Dtype::Int8 && int_ops > flops { int_ops } else { flops };
    let intensity = operations / crate::counters::count_of(bytes);
    let ns = means.time().as_f64();
    let rate = (ns > 0.0).then(|| operations * 1e9 / ns);
    let roof = roof(&work, dtype, roofs);
    let upper = work.upper.map(|upper| upper * times / crate::counters::count_of(bytes));
    let (class, reason) = class(&work, whole, intensity, upper, roof);
    let mut point = Point {
        name: Text::clone(name),
        intensity,
        rate,
        flops,
        int_ops,
        bytes,
        time: means.time(),
        time_pct: 0.0,
        dtype,
        dtype_source,
        typed: work.estimate.is_none(),
        class,
        confident: whole && work.estimate.is_none() && !work.matrix_unknown,
        reason,
        roof,
        roof_pct: None,
        dispatches,
        pipe: pipe(&work),
        by_type,
    };
    if let (Some(rate), Some(attainable)) = (rate, point.attainable()) {
        if let Distance::Below(_) = distance(rate, attainable)
            && rate <= attainable
        {
            point.roof_pct = Some(100.0 * rate / attainable);
        } else {
            let text = format!("{rate:.3e} operations per second where the roof allows {attainable:.3e}");
            point.reason =
                Some(point.reason.map_or_else(|| text.clone(), |known| format!("{known}; {text}")));
        }
    }
    Ok(point)
}

fn pipe(work: &Work) -> Pipe {
    let matrix = work.counted.iter().any(|(kind, _)| kind.matrix) || work.matrix_unknown;
    let vector =
        work.counted.iter().any(|(kind, _)| !kind.matrix) || work.estimate.is_some_and(|ops| ops > 0.0);
    match (matrix, vector) {
        (true, true) => Pipe::Mixed,
        (true, false) => Pipe::Matrix,
        (false, _) => Pipe::Vector,
    }
}

/// Format of most counted operations; without any the hint, the name, FP32.
fn dtype(name: &str, by_type: &BTreeMap<Dtype, f64>, hint: Option<Dtype>) -> (Dtype, DtypeSource) {
    let floats: f64 = by_type.iter().filter(|(dtype, _)| **dtype != Dtype::Int8).map(|(_, ops)| ops).sum();
    if by_type.get(&Dtype::Int8).is_some_and(|ops| *ops > floats) {
        return (Dtype::Int8, DtypeSource::Counters);
    }
    let floats = by_type.iter().rev().filter(|(dtype, ops)| **dtype != Dtype::Int8 && **ops > 0.0);
    if let Some((dtype, _)) = floats.max_by(|one, other| one.1.total_cmp(other.1)) {
        return (*dtype, DtypeSource::Counters);
    }
    match (hint, Dtype::of_name(name)) {
        (Some(hint), _) => (hint, DtypeSource::Hint),
        (None, Some(named)) => (named, DtypeSource::Name),
        (None, None) => (Dtype::Fp32, DtypeSource::Default),
    }
}

/// The roofs of a kernel's mix of operations: its peak is reached when each part runs at the peak of its format and pipe.
fn roof(work: &Work, dtype: Dtype, roofs: &Roofs) -> Option<Roof> {
    let peaks = &roofs.sku?.peaks;
    let bandwidth = roofs.bandwidth?;
    let integers = dtype == Dtype::Int8;
    let mixed = || {
        let mut sum = 0.0;
        let mut time = 0.0;
        for (kind, operations) in
            work.counted.iter().filter(|(kind, _)| (kind.dtype == Dtype::Int8) == integers)
        {
            sum += operations;
            time += operations / kind.peak(peaks)?;
        }
        (time > 0.0).then(|| sum / time)
    };
    // An estimate has no formats of its own to mix.
    let peak =
        if work.estimate.is_some() { dtype.peak(peaks) } else { mixed().or_else(|| dtype.peak(peaks)) }?;
    Some(Roof { peak, bandwidth })
}

fn class(
    work: &Work,
    whole: bool,
    intensity: f64,
    upper: Option<f64>,
    roof: Option<Roof>,
) -> (Option<Regime>, Option<String>) {
    let because = |text: &str| Some(text.to_owned());
    let Some(roof) = roof else { return (None, because("the peaks of this GPU are not known")) };
    if work.matrix_unknown {
        return (None, because("matrix_counters_missing"));
    }
    if work.estimate.is_some() {
        return match upper {
            Some(upper) if upper < roof.ridge() => (
                Some(Regime::Memory),
                because(
                    "operations are estimated from instructions; even the most they can be stays below the ridge",
                ),
            ),
            Some(_) => (None, because("operations are estimated from instructions")),
            None => (
                None,
                because("operations are estimated from instructions, and matrix operations were not counted"),
            ),
        };
    }
    if !whole {
        let memory = roof.regime(intensity) == Regime::Memory;
        return (
            memory.then_some(Regime::Memory),
            because("only one of bytes read and written was counted: bytes are a lower bound"),
        );
    }
    (Some(roof.regime(intensity)), None)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a saturating cast of a number that is not negative"
)]
fn truncated(value: f64) -> u64 {
    value as u64
}
