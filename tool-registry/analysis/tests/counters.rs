//! The counter engine against planted scenarios and recorded hardware runs.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use perfxpert_analysis::counters::{
    Absent, CounterProfile, HotCounters, KernelTimes, Metric, RunMetrics, collect, health, hot, run_metrics,
};
use perfxpert_analysis::roofline::{Ask, plot};
use perfxpert_analysis::{Nanos, RunProfile, evidence, gpu, sweep};
use perfxpert_fixtures::{Dispatch, KernelSpec, Knobs, Planted, Product, TraceBuilder, TraceFile, scenarios};
use perfxpert_trace::{Control, Health, OpenOptions, Trace};

struct Read {
    trace: Trace,
    run: RunProfile,
    profile: CounterProfile,
    metrics: RunMetrics,
    health: Health,
}

impl Read {
    fn hot(&self) -> HotCounters {
        let gpus = gpu::of_run(&self.trace, &self.run, None);
        hot(&self.run, &self.metrics, &plot(&self.run, &gpus, &self.profile, &Ask::default()))
    }
}

fn open(paths: &[std::path::PathBuf]) -> Trace {
    Trace::open(paths, &OpenOptions { allow_partial: true, ..OpenOptions::default() }).expect("a trace")
}

fn read(trace: Trace) -> Read {
    let run = sweep::profile(&trace, Nanos::ZERO, &Control::default()).expect("readable").0;
    let (profile, report) = collect(&trace, &Control::default()).expect("readable");
    let metrics = run_metrics(&profile);
    let mut all = report.health;
    all.merge(&health(&run, &profile, &metrics));
    Read { trace, run, profile, metrics, health: all }
}

fn file(builder: &TraceBuilder) -> (TraceFile, Read) {
    let file = builder.build().unwrap();
    let read = read(open(&[file.path().to_path_buf()]));
    (file, read)
}

fn plant(name: &str) -> Planted {
    let entry = scenarios().into_iter().find(|entry| entry.name == name).expect(name);
    entry.plan(&Knobs { scale: None, ..Knobs::default() }).build().unwrap()
}

fn scenario(name: &str) -> (Planted, Read) {
    let planted = plant(name);
    let read = read(open(&planted.paths));
    (planted, read)
}

#[track_caller]
fn near(found: Option<f64>, wanted: f64, relative: f64) {
    let found = found.unwrap_or_else(|| panic!("nothing where {wanted} was planted"));
    assert!((found - wanted).abs() <= relative * wanted.abs().max(1e-12), "{found}, planted {wanted}");
}

/// valu, mfma, HBM, waves as planted in thousandths and a count; the planted HBM peak is rounded.
#[test]
fn planted_utilisations_come_back() {
    for (name, valu, mfma, hbm, waves) in [
        ("compute_bound", 0.300, 0.720, 0.250, 12.0),
        ("mfma_bound", 0.300, 0.750, 0.200, 12.0),
        ("valu_bound", 0.850, 0.0, 0.250, 20.0),
        ("memory_bound", 0.200, 0.0, 0.750, 24.0),
        ("hbm_bound", 0.150, 0.0, 0.800, 24.0),
        ("low_occupancy", 0.150, 0.0, 0.100, 3.0),
        ("healthy_counters", 0.500, 0.0, 0.500, 20.0),
        ("counters_xcd", 0.600, 0.0, 0.300, 16.0),
        ("counters_single", 0.600, 0.0, 0.300, 16.0),
    ] {
        let (_, read) = scenario(name);
        println!("{name}");
        near(read.metrics.get(Metric::Valu), valu, 1e-4);
        near(read.metrics.get(Metric::Mfma), mfma, 1e-4);
        near(read.metrics.get(Metric::Hbm), hbm, 6e-3);
        near(read.metrics.get(Metric::WavesPerCu), waves, 1e-4);
        near(read.metrics.get(Metric::Occupancy), waves / 32.0, 1e-4);
        assert!(
            !read.metrics.kernels.iter().any(|kernel| kernel
                .measured(Metric::Valu)
                .as_ref()
                .unwrap()
                .combined_passes)
        );
        let ids: Vec<&str> = read.health.items().iter().map(|item| item.id).collect();
        assert_eq!(ids, Vec::<&str>::new(), "a healthy trace stays quiet");
        assert_eq!((read.profile.passes, read.profile.runs), (1, read.run.rows.dispatches), "{name}");
    }
}

#[test]
fn verdicts_of_kernel_side_scenarios_are_the_planted_ones() {
    for entry in scenarios() {
        let plan = entry.plan(&Knobs { scale: None, ..Knobs::default() });
        if plan.truth.rows.values().sum::<u64>() > 2_000_000 {
            continue;
        }
        let planted = plan.build().unwrap();
        let (Some(wanted), None) = (&planted.truth.verdict, &planted.truth.error) else { continue };
        let trace = open(&planted.paths);
        if !trace.processes().iter().any(|process| process.has.counters) {
            continue;
        }
        let read = read(trace);
        let hot: HotCounters = read.hot();
        let (verdict, _) = evidence::verdict(&read.run, Some(&hot), &read.health);
        let seen = (verdict.kind.as_str(), verdict.detail.map(|detail| detail.as_str()));
        let detail = wanted.detail.as_deref().filter(|detail| !detail.is_empty());
        assert!(
            seen.0 == wanted.label && (detail.is_none() || seen.1 == detail),
            "{}: {seen:?}, planted {wanted:?}; {}; {hot:?}",
            entry.name,
            verdict.reason
        );
    }
}

#[test]
fn instance_rows_and_single_rows_are_the_same_counters() {
    let (_, many) = scenario("counters_xcd");
    let (_, single) = scenario("counters_single");
    assert_eq!(many.profile.names, single.profile.names);
    for ((at, one), (_, other)) in many.profile.totals().into_iter().zip(single.profile.totals()) {
        // The generator divides by eight and rounds down.
        assert!((one.sum - other.sum).abs() <= 8.0 * 100.0, "{}: {one:?} {other:?}", many.profile.names[at]);
        assert_eq!(one.dispatches, other.dispatches);
    }
}

#[test]
fn separate_passes_are_combined_and_say_so() {
    let (_, read) = scenario("counters_passes");
    assert_eq!(read.profile.passes, 3);
    near(read.metrics.get(Metric::Valu), 0.6, 1e-4);
    near(read.metrics.get(Metric::Hbm), 0.3, 6e-3);
    for kernel in &read.metrics.kernels {
        assert!(
            !kernel.measured(Metric::Valu).as_ref().unwrap().combined_passes,
            "one pass holds its counters"
        );
        assert!(kernel.measured(Metric::Hbm).as_ref().unwrap().combined_passes);
    }
    assert_eq!(
        read.metrics.measured(Metric::Mfma),
        &Err(Absent::Missing(vec!["SQ_VALU_MFMA_BUSY_CYCLES".into()]))
    );
    let waves = read.profile.position("SQ_WAVES").unwrap();
    let totals = read.profile.totals();
    let (_, cell) = totals.iter().find(|(at, _)| *at == waves).unwrap();
    assert_eq!((cell.dispatches, cell.mean()), (120, Some(16_384.0)));
}

#[test]
fn counters_of_other_databases_take_this_runs_times() {
    let planted = plant("counters_passes");
    let mut main = read(open(&planted.paths[..1]));
    let gpus = gpu::of_run(&main.trace, &main.run, None);
    let times = KernelTimes::of_run(&main.trace, &main.run);
    assert!(main.metrics.get(Metric::Hbm).is_none());
    for path in &planted.paths[1..] {
        let (other, _) = collect(&open(std::slice::from_ref(path)), &Control::default()).unwrap();
        main.profile.absorb(&other, &times, &gpus);
    }
    let metrics = run_metrics(&main.profile);
    near(metrics.get(Metric::Hbm), 0.3, 6e-3);
    near(metrics.get(Metric::Valu), 0.6, 1e-4);
    assert_eq!(main.profile.passes, 3);
    assert_eq!(main.profile.unmatched.kernels, 0);
    // A trace of something else matches nothing.
    let (_, foreign) = scenario("mfma_bound");
    main.profile.absorb(&foreign.profile, &times, &gpus);
    assert_eq!(main.profile.unmatched.kernels, 2);
    assert_eq!(run_metrics(&main.profile).get(Metric::Hbm), metrics.get(Metric::Hbm));
}

#[test]
fn a_replayed_dispatch_counts_once() {
    let (_, read) = scenario("counters_replay");
    let kernel = &read.profile.kernels[0];
    assert_eq!((kernel.dispatches(), kernel.runs, read.profile.passes), (20, 60, 3));
    let (_, cell) = kernel.totals()[0];
    assert_eq!((cell.mean(), cell.sum, cell.rows, cell.dispatches), (Some(512.0), 10_240.0, 60, 20));
    assert_eq!(kernel.groups[0].time, Nanos(20 * 100_000));
    assert_eq!(kernel.time, Nanos(60 * 100_000));
}

#[test]
fn rotating_groups_and_replays_with_other_counters_combine_per_dispatch() {
    let mut t = TraceBuilder::new();
    let gpu = t.gpu("mi300x");
    let kernel = t.kernel(KernelSpec::new("k(float*)"));
    let (hit, miss) = (t.counter(gpu, "TCC_HIT_sum"), t.counter(gpu, "TCC_MISS_sum"));
    for index in 0..10 {
        for (pass, (counter, value)) in [(hit, 30.0), (miss, 10.0)].into_iter().enumerate() {
            let at = index * 1_000_000 + i64::try_from(pass).unwrap() * 200_000;
            t.dispatch(gpu, kernel, at..at + 100_000).dispatch_id(index + 1).counter(counter, value);
        }
    }
    let (_file, read) = file(&t);
    let metric = read.metrics.kernels[0].measured(Metric::L2Hit).as_ref().unwrap();
    assert_eq!((metric.value, metric.dispatches, metric.combined_passes), (0.75, 10, true));
}

#[test]
fn shapes_counted_in_different_passes_are_not_mixed() {
    let mut t = TraceBuilder::new();
    let gpu = t.gpu("mi300x");
    let kernel = t.kernel(KernelSpec::new("k(float*)"));
    let (hit, miss) = (t.counter(gpu, "TCC_HIT_sum"), t.counter(gpu, "TCC_MISS_sum"));
    t.dispatch(gpu, kernel, 0..100_000).shape(256, 256 * 10).counter(hit, 30.0);
    t.dispatch(gpu, kernel, 200_000..300_000).shape(256, 256 * 999).counter(miss, 10.0);
    let (_file, read) = file(&t);
    assert_eq!(read.metrics.kernels[0].measured(Metric::L2Hit), &Err(Absent::Apart));
}

#[test]
fn counters_on_a_part_of_the_dispatches_are_said_to_be() {
    let (planted, read) = scenario("counters_partial");
    assert_eq!(read.profile.runs, planted.truth.notes["dispatches_with_counters"].as_u64().unwrap());
    assert_eq!(read.health.get("partial_counters").unwrap().count, 1);
    near(read.metrics.get(Metric::Valu), 0.6, 1e-4);
}

#[test]
fn zeros_are_no_measurement() {
    let (_, read) = scenario("counters_zero");
    assert!(!read.profile.usable());
    assert!(read.profile.unusable_reason().unwrap().contains("all counter values are 0"));
    assert_eq!(read.health.get("zero_counters").unwrap().count, 10);
    for metric in Metric::ALL {
        assert_eq!(read.metrics.get(metric), None, "{metric:?}");
    }
    assert_eq!(read.hot(), HotCounters::default());
}

#[test]
fn unusable_values_are_dropped_and_sound_ones_kept() {
    let (_, read) = scenario("counters_garbage");
    let (_, cell) = read.profile.totals()[0];
    assert_eq!((cell.sum, cell.dispatches), (140.5, 3));
    assert_eq!(read.health.get("unusable_counter_values").unwrap().count, 7);
}

#[test]
fn more_than_the_peak_is_refused_with_both_numbers() {
    let (_, read) = scenario("counters_over_peak");
    assert_eq!((read.metrics.get(Metric::Hbm), read.metrics.get(Metric::HbmRate)), (None, None));
    near(read.metrics.get(Metric::Valu), 0.2, 1e-4);
    let item = read.health.get("implausible_value").unwrap();
    assert_eq!(item.count, 1);
    assert!(item.message.contains("1.59") && item.message.contains("5.325e12"), "{}", item.message);
    let hot = read.hot();
    assert_eq!(hot.hbm, None);
}

#[test]
fn ids_of_zero_are_ids() {
    let (_, read) = scenario("counters_zero_ids");
    let (_, cell) = read.profile.totals()[0];
    assert_eq!((cell.mean(), cell.dispatches, cell.rows), (Some(512.0), 10, 80));
}

#[test]
fn an_impossible_clock_puts_its_dispatch_aside() {
    let (_, read) = scenario("implausible_clock");
    let item = read.health.get("implausible_clock").unwrap();
    assert_eq!(item.count, 1);
    assert!(item.examples[0].contains("dispatch 18 of"), "{:?}", item.examples);
    near(read.metrics.get(Metric::Valu), 0.6, 1e-4);
    assert_eq!(read.profile.kernels[0].dispatches(), 49);
}

/// vecCopy of 1 048 576 doubles as rocprofiler-compute recorded it: one row per counter, clocks added up over the dies. The
/// recording kept no exact times: the kernel lasts as long as its counters ran at the highest clock.
fn vec_copy(product: &str, dies: f64, counters: &[(&str, f64)]) -> Read {
    let mut t = TraceBuilder::new();
    let product = Product::by_key(product);
    let cycles = counters.iter().find(|(name, _)| *name == "GRBM_GUI_ACTIVE").unwrap().1 / dies;
    #[allow(clippy::cast_possible_truncation)]
    let ns = (cycles * 1000.0 / f64::from(product.clock)).ceil() as i64;
    let gpu = t.gpu_of(product);
    let kernel = t.kernel(KernelSpec::new("vecCopy(double*, double*, double*, int, int)"));
    let ids: Vec<_> = counters.iter().map(|(name, value)| (t.counter(gpu, name), *value)).collect();
    let dispatch: &mut Dispatch = t.dispatch(gpu, kernel, 0..ns);
    for (id, value) in ids {
        dispatch.counter(id, value);
    }
    file(&t).1
}

/// Resident waves by wave cycles against the hardware's own accumulated level counter of the same dispatch.
#[test]
fn waves_agree_with_the_accumulated_level_of_recorded_runs() {
    for (product, dies, units, cycles, wave_cycles, accumulated) in [
        ("mi100", 1.0, 120.0, 49_066.0, 25_278_471.0, 101_647_680.0),
        ("mi210", 1.0, 104.0, 27_964.0, 11_075_620.0, 44_799_316.0),
        ("mi300a", 6.0, 228.0, 220_553.0, 13_496_981.0, 54_413_320.0),
        ("mi300x", 8.0, 304.0, 486_977.0, 38_712_781.0, 155_189_876.0),
    ] {
        let read = vec_copy(product, dies, &[("GRBM_GUI_ACTIVE", cycles), ("SQ_WAVE_CYCLES", wave_cycles)]);
        near(read.metrics.get(Metric::WavesPerCu), accumulated / (cycles / dies * units), 0.02);
        assert_eq!(read.profile.put_aside.clock, 0, "{product}");
    }
}

#[test]
fn a_recorded_vector_copy_moves_eight_mebibytes_each_way() {
    let read = vec_copy(
        "mi300x",
        8.0,
        &[
            ("GRBM_GUI_ACTIVE", 2_562_960.0),
            ("GRBM_COUNT", 2_562_960.0),
            ("SQ_WAVES", 16_384.0),
            ("TCC_EA0_RDREQ_sum", 65_767.0),
            ("TCC_EA0_RDREQ_32B_sum", 0.0),
            ("TCC_BUBBLE_sum", 65_536.0),
            ("TCC_EA0_WRREQ_sum", 131_072.0),
            ("TCC_EA0_WRREQ_64B_sum", 131_072.0),
            ("TCC_HIT_sum", 66_160.0),
            ("TCC_MISS_sum", 131_309.0),
            ("TCP_TOTAL_CACHE_ACCESSES_sum", 524_288.0),
            ("TCP_TCC_READ_REQ_sum", 65_536.0),
            ("TCP_TCC_WRITE_REQ_sum", 131_072.0),
            ("TCP_TCC_ATOMIC_WITH_RET_REQ_sum", 0.0),
            ("TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum", 0.0),
        ],
    );
    let kib = |metric| read.metrics.get(metric).map(|bytes| bytes / 1024.0);
    near(kib(Metric::HbmRead), 8206.0, 1e-4);
    near(kib(Metric::HbmWritten), 8192.0, 1e-12);
    near(read.metrics.get(Metric::L2Hit), 0.335_039_930_318_176_5, 1e-12);
    near(read.metrics.get(Metric::L1Hit), 0.625, 1e-12);
    assert_eq!(read.metrics.waves_launched, Some(16_384));
    assert!(read.health.items().iter().all(|item| item.id != "implausible_clock"));
}

#[test]
fn fetch_size_of_an_apu_is_doubted() {
    let mut t = TraceBuilder::new();
    let gpu = t.gpu("strix_halo");
    let kernel = t.kernel(KernelSpec::new("k(float*)"));
    let (fetch, write) = (t.counter(gpu, "FETCH_SIZE"), t.counter(gpu, "WRITE_SIZE"));
    t.dispatch(gpu, kernel, 0..100_000).counter(fetch, 1024.0).counter(write, 512.0);
    let (_file, read) = file(&t);
    let rate = read.metrics.measured(Metric::HbmRate).as_ref().unwrap();
    near(Some(rate.value), 1536.0 * 1024.0 / 100e-6, 1e-12);
    assert!(rate.notes.iter().any(|note| note.contains("half of the true traffic")), "{:?}", rate.notes);
    assert_eq!(read.metrics.measured(Metric::Hbm), &Err(Absent::NoPeak));
    assert_eq!(read.metrics.measured(Metric::Valu), &Err(Absent::NoFormula));
}

#[test]
fn bytes_that_come_out_negative_are_refused() {
    let mut t = TraceBuilder::new();
    let gpu = t.gpu("mi300x");
    let kernel = t.kernel(KernelSpec::new("k(float*)"));
    let names = ["TCC_EA0_RDREQ_sum", "TCC_EA0_RDREQ_32B_sum", "TCC_BUBBLE_sum"];
    let ids = names.map(|name| t.counter(gpu, name));
    let dispatch = t.dispatch(gpu, kernel, 0..100_000);
    for (id, value) in ids.into_iter().zip([100.0, 5000.0, 0.0]) {
        dispatch.counter(id, value);
    }
    let (_file, read) = file(&t);
    let wanted = 64.0 * (100.0 - 5000.0) + 32.0 * 5000.0;
    assert_eq!(
        read.metrics.measured(Metric::HbmRead),
        &Err(Absent::Implausible { value: wanted, limit: 0.0 })
    );
    assert_eq!(read.health.get("implausible_value").unwrap().count, 1);
}
