//! The statistics against published reach, hand-computed intervals and seeded simulations.

use super::interval::RankSum;
use super::run::{Counted, GpuCount, KernelRun, Run, Spread};
use super::series::{Series, median_of_sorted};
use super::verdict::{Verdict, by_elapsed_time, by_kernels};
use super::{Code, Options, Side, compare, gate};
use crate::units::{Bytes, BytesPerSecond, Nanos};

#[test]
fn the_reach_of_small_numbers_of_runs() {
    for (n, m, k, confidence) in [
        (3, 3, 1, 0.9000),
        (3, 4, 1, 0.9429),
        (4, 4, 1, 0.9714),
        (5, 5, 3, 0.9683),
        (6, 6, 6, 0.9589),
        (8, 8, 14, 0.9501),
        (10, 10, 24, 0.9567),
        (2, 5, 1, 0.9048),
    ] {
        let reach = RankSum::new(n, m).unwrap().reach(95, 1);
        assert_eq!(reach.k, k, "{n}+{m}");
        assert!((reach.confidence - confidence).abs() < 5e-5, "{n}+{m}: {}", reach.confidence);
    }
    assert!(RankSum::new(2, 2).is_none() && RankSum::new(1, 1).is_none() && RankSum::new(1, 9).is_none());
    assert!(RankSum::new(50, 50).is_some() && RankSum::new(0, 3).is_none() && RankSum::new(51, 51).is_none());
    // 1 of 20 arrangements meets 90 % exactly; two tests together do not, and the widest interval is left.
    assert_eq!(RankSum::new(3, 3).unwrap().reach(90, 1).k, 1);
    let two = RankSum::new(5, 5).unwrap().reach(95, 2);
    assert!(two.k == 2 && (two.confidence - 0.9841).abs() < 5e-5);
}

/// Delta, lower end, upper end: of values in hundredths of a millisecond.
fn judged(baseline: &[u64], new: &[u64]) -> (f64, Option<(f64, f64)>) {
    let pairs = Series { baseline: baseline.to_vec(), new: new.to_vec() }.pairwise();
    let interval = RankSum::new(baseline.len(), new.len()).and_then(|ranks| ranks.interval(&pairs, 95, 1));
    (median_of_sorted(&pairs).unwrap(), interval.map(|interval| (interval.low, interval.high)))
}

#[test]
fn worked_intervals() {
    for (baseline, new, delta, ends) in [
        (
            &[1000, 1010, 995, 1005, 1002][..],
            &[1070, 1065, 1080, 1072, 1069][..],
            6.9,
            Some((5.9406, 7.7844)),
        ),
        (&[1000, 1010, 995, 1005, 1002], &[1001, 1009, 998, 1006, 1004], 0.1, Some((-0.6965, 0.9045))),
        (&[1000, 1200, 900, 1100, 1050], &[1090, 1250, 980, 1160, 1120], 6.6667, Some((-9.1667, 25.0))),
        (&[1000, 1010, 990], &[1070, 1080, 1065], 7.0, Some((5.4455, 9.0909))),
        (&[1000, 1150, 920], &[1100, 1010, 1250], 9.7826, Some((-12.1739, 35.8696))),
        (&[1000, 1010], &[1080, 1070], 6.9653, None),
    ] {
        let (found, interval) = judged(baseline, new);
        assert!((found - delta).abs() < 5e-5, "{found} {delta}");
        match (interval, ends) {
            (Some((low, high)), Some((want_low, want_high))) => {
                assert!((low - want_low).abs() < 5e-5 && (high - want_high).abs() < 5e-5, "{low} {high}");
            }
            (found, wanted) => assert_eq!(found.is_some(), wanted.is_some()),
        }
    }
}

#[test]
fn the_distribution_counts_every_arrangement() {
    // All ways to choose which 4 of 7 places hold the first side's values, by brute force.
    let (n, m) = (4_u32, 3_u32);
    let mut counts = vec![0_u64; (n * m + 1) as usize];
    for chosen in 0_u32..1 << (n + m) {
        if chosen.count_ones() == n {
            let places = (0..n + m).filter(|place| chosen & (1 << place) != 0);
            let statistic: u32 = places.zip(0..).map(|(place, rank)| place - rank).sum();
            counts[statistic as usize] += 1;
        }
    }
    let total: u64 = counts.iter().sum();
    for alpha in [90_u8, 95, 99] {
        let mut tail = 0;
        let mut k = 0;
        for count in &counts {
            if (tail + count) * 200 > u64::from(100 - alpha) * total {
                break;
            }
            tail += count;
            k += 1;
        }
        let reach = RankSum::new(n as usize, m as usize).unwrap().reach(alpha, 1);
        assert_eq!(reach.k, k.max(1), "{alpha}");
    }
}

/// splitmix64, so that the simulation needs no crate and no seed from outside.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * (1.0 - self.next()).ln()).sqrt() * (std::f64::consts::TAU * self.next()).cos()
    }

    /// Log-normal times of about 10 ms.
    fn runs(&mut self, count: usize, spread_pct: f64, factor: f64) -> Vec<u64> {
        (0..count).map(|_| (1e7 * factor * (spread_pct / 100.0 * self.normal()).exp()) as u64).collect()
    }

    /// Times of two modes, half of the runs in each on average, with a jitter of half a percent.
    fn bimodal(&mut self, count: usize, apart_pct: f64, factor: f64) -> Vec<u64> {
        (0..count)
            .map(|_| {
                let mode = if self.next() < 0.5 { 1.0 } else { 1.0 + apart_pct / 100.0 };
                (1e7 * factor * mode * (0.005 * self.normal()).exp()) as u64
            })
            .collect()
    }
}

#[derive(Default)]
struct Rates {
    regressed: f64,
    passed: f64,
}

/// Shares of `times` comparisons with a threshold of 5 %.
fn rates(times: u32, runs: usize, mut draw: impl FnMut() -> [Vec<u64>; 2]) -> Rates {
    let ranks = RankSum::new(runs, runs).unwrap();
    let mut rates = Rates::default();
    for _ in 0..times {
        let [baseline, new] = draw();
        let pairs = Series { baseline, new }.pairwise();
        let interval = ranks.interval(&pairs, 95, 1).unwrap();
        if median_of_sorted(&pairs).unwrap() > 5.0 && interval.low > 0.0 {
            rates.regressed += 1.0 / f64::from(times);
        } else if interval.high <= 5.0 {
            rates.passed += 1.0 / f64::from(times);
        }
    }
    rates
}

#[test]
fn noise_alone_is_hardly_ever_a_regression() {
    let mut random = Random(20_260_115);
    for spread in [0.5, 1.5, 5.0, 10.0] {
        for runs in [3, 5, 8] {
            // All three above all three has a chance of exactly 1 in 20, and the threshold takes little from it at wide
            // spreads (4.89 % at 10 %): a sample of 2000 could not tell that from more than 5 %.
            let times = if runs == 3 { 100_000 } else { 2000 };
            let found =
                rates(times, runs, || [random.runs(runs, spread, 1.0), random.runs(runs, spread, 1.0)]);
            assert!(found.regressed <= 0.05, "{spread} % spread, {runs} runs: {}", found.regressed);
        }
    }
    for runs in [3, 5, 8] {
        let found = rates(2000, runs, || [random.runs(runs, 1.5, 1.0), random.runs(runs, 1.5, 1.1)]);
        assert!(found.regressed >= 0.99, "+10 %, {runs} runs: {}", found.regressed);
    }
}

#[test]
fn two_modes_are_no_regression_and_hide_none() {
    let mut random = Random(7);
    for apart in [5.0, 10.0, 20.0] {
        for runs in [5, 10, 20] {
            let null =
                rates(1000, runs, || [random.bimodal(runs, apart, 1.0), random.bimodal(runs, apart, 1.0)]);
            assert!(null.regressed <= 0.05, "{apart} % apart, {runs} runs: {}", null.regressed);
            let slower =
                rates(1000, runs, || [random.bimodal(runs, apart, 1.0), random.bimodal(runs, apart, 1.08)]);
            assert!(slower.passed <= 0.02, "{apart} % apart, {runs} runs: {}", slower.passed);
            if apart <= 5.0 {
                assert!(slower.regressed >= 0.9, "{apart} % apart, {runs} runs: {}", slower.regressed);
            }
        }
    }
}

/// One kernel of 1024 work-items on a GPU that moves 5,000 GB/s.
fn one_kernel(ns: u64, counted_bytes: Option<u64>) -> Run {
    let counted = counted_bytes.map(|bytes| Counted {
        bytes: Bytes(bytes),
        duration: Nanos(ns),
        calls: 1,
        work_items: Some(1024),
    });
    Run {
        wall: Nanos(ns),
        kernel_sum: Nanos(ns),
        kernels: vec![KernelRun {
            name: "copy".into(),
            calls: 1,
            total: Nanos(ns),
            spread: Spread { count: 1.0, mean: ns as f64, squares: 0.0 },
            work_items: Some(1024),
            counted,
        }],
        gpus: vec![GpuCount { gfx_id: Some("gfx000".to_owned()), cu_count: Some(1), name: None, count: 1 }],
        has_gpu_work: true,
        dispatches: 1,
        memory_rate: Some(BytesPerSecond(5e12)),
        ..Run::default()
    }
}

#[test]
fn a_kernel_faster_than_memory_is_no_improvement() {
    // 4 GB in 1 ms are 4,000 GB/s; in 0.1 ms they would be 40,000 GB/s, and 5,250 GB/s is the limit.
    let (before, after) = (one_kernel(1_000_000, Some(4_000_000_000)), one_kernel(100_000, None));
    let compared = compare(std::slice::from_ref(&before), &[after], &Options::default());
    let found = compared.too_fast.as_ref().unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].side, found[0].gbps, found[0].limit_gbps), (Side::New, 40_000.0, 5_250.0));
    let name = |name: &str| name.to_owned();
    assert_eq!(by_elapsed_time(&compared, 5.0), Verdict::Inconclusive);
    assert_eq!(by_kernels(&compared, 3.0, 10.0, &name).verdict, Verdict::Inconclusive);
    let limits = gate::Limits {
        threshold_pct: 5.0,
        kernel_threshold_pct: None,
        min_time_share_pct: 1.0,
        min_delta: Nanos(0),
        confidence_pct: 95,
    };
    let judged = gate::gate(&compared, &limits, &name);
    assert_eq!(judged.verdict, gate::Verdict::NoVerdict);
    assert_eq!(judged.reasons[0].code, Code::ImpossibleSpeed.label());
    let sound = compare(&[before], &[one_kernel(900_000, None)], &Options::default());
    assert_eq!(sound.too_fast.as_deref(), Some(&[][..]));
    let uncounted = compare(&[one_kernel(10, None)], &[one_kernel(10, None)], &Options::default());
    assert!(uncounted.too_fast.is_none());
}
