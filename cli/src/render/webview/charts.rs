//! Gauges, roofline and flame graph as SVG; the tables beside them carry the same data.

use perfxpert_schemas::report::Report;
use perfxpert_schemas::report::hardware::{Roofline, RooflinePoint, ThreadTrace};

use super::html::Html;
use super::kernels::jump_target;
use super::table::{self, Column, coordinate};
use crate::render::name::shorten;
use crate::render::number::{count, counted, decimal, or_dash, percent};
use crate::render::text;

/// A half-circle gauge; `good` is the percentage from which it is green.
pub(super) fn gauge(page: &mut Html, label: &str, value: Option<f64>, good: f64, note: &str) {
    let shown = or_dash(value, percent);
    page.open("div", &[("class", "gauge")])
        .open("svg", &[("viewBox", "0 0 200 120"), ("role", "img"), ("aria-label", label)])
        .leaf("title", &[], label)
        .leaf("desc", &[], &format!("{label}: {shown}"))
        .open("path", &[("class", "track"), ("d", "M 20 105 A 80 80 0 0 1 180 105")])
        .close("path");
    if let Some(value) = value.filter(|value| *value > 0.0) {
        let angle = std::f64::consts::PI * (1.0 - value.min(100.0) / 100.0);
        let (x, y) = (100.0 + 80.0 * angle.cos(), 105.0 - 80.0 * angle.sin());
        let class = if value >= good { "val good" } else { "val" };
        let path = format!("M 20 105 A 80 80 0 0 1 {} {}", coordinate(x), coordinate(y));
        page.open("path", &[("class", class), ("d", &path)]).close("path");
    }
    page.leaf("text", &[("class", "strong"), ("x", "100"), ("y", "98"), ("text-anchor", "middle")], &shown)
        .close("svg")
        .leaf("div", &[], label)
        .leaf("div", &[("class", "more")], note)
        .close("div");
}

/// Plot area of the roofline.
const LEFT: f64 = 70.0;
const WIDTH: f64 = 790.0;
const BOTTOM: f64 = 370.0;
const HEIGHT: f64 = 350.0;

/// Whole decades that hold every point and every roof, so that nothing is clamped.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Axes {
    x0: f64,
    x1: f64,
    y0: f64,
    y1: f64,
}

impl Axes {
    fn of(roof: &Roofline, peaks: &[(String, f64)]) -> Self {
        let bandwidth = roof.hbm_bandwidth_bytes_per_s.filter(|bandwidth| *bandwidth > 0.0);
        let ridges = peaks.iter().filter_map(|(_, peak)| bandwidth.map(|bandwidth| peak / bandwidth));
        let positive = |value: &f64| *value > 0.0 && value.is_finite();
        let xs: Vec<f64> = roof.kernels.iter().map(|point| point.ai).chain(ridges).filter(positive).collect();
        let ys: Vec<f64> = roof
            .kernels
            .iter()
            .map(|point| point.achieved_flops_per_s)
            .chain(peaks.iter().map(|(_, peak)| *peak))
            .filter(positive)
            .collect();
        let range = |values: &[f64]| {
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            if least.is_finite() && most.is_finite() {
                let low = (0.5 * least).log10().floor();
                (low, (2.0 * most).log10().ceil().max(low + 1.0))
            } else {
                (0.0, 1.0)
            }
        };
        let ((x0, x1), (y0, y1)) = (range(&xs), range(&ys));
        Self { x0, x1, y0, y1 }
    }

    fn x(&self, intensity: f64) -> f64 {
        LEFT + WIDTH * (intensity.log10() - self.x0) / (self.x1 - self.x0)
    }

    fn y(&self, rate: f64) -> f64 {
        BOTTOM - HEIGHT * (rate.log10() - self.y0) / (self.y1 - self.y0)
    }
}

/// Peaks from lowest to highest; equal peaks share a label (`fp16, bf16`).
fn ceilings(roof: &Roofline) -> Vec<(String, f64)> {
    let Some(peaks) = &roof.arch_peaks else { return Vec::new() };
    let mut rows: Vec<(String, f64)> = Vec::new();
    for (name, peak) in [
        ("fp64", peaks.fp64),
        ("fp32", peaks.fp32),
        ("fp16", peaks.fp16),
        ("bf16", peaks.bf16),
        ("fp8", peaks.fp8),
        ("int8", peaks.int8),
    ] {
        let Some(peak) = peak.filter(|peak| *peak > 0.0) else { continue };
        match rows.iter_mut().find(|(_, known)| *known == peak) {
            Some((label, _)) => label.push_str(&format!(", {name}")),
            None => rows.push((name.to_owned(), peak)),
        }
    }
    rows.sort_by(|a, b| a.1.total_cmp(&b.1));
    rows
}

pub(super) fn roofline(page: &mut Html, report: &Report) {
    let Some(roof) = &report.roofline else { return };
    page.leaf("p", &[], &text::roof_line(roof));
    page.open("div", &[("class", "rf-box")]);
    chart(page, report, roof);
    page.close("div");
    page.open("p", &[("class", "more")])
        .text("Circle compute, square memory, diamond balanced, triangle unknown; hollow: low confidence. Wheel or + and - zoom, drag pans. ")
        .leaf("button", &[("type", "button"), ("class", "no-js-hide"), ("data-reset", "rf-svg")], "Reset view")
        .close("p");
    let columns: [Column<'_>; 8] = [
        ("Kernel", false),
        ("FLOP/byte", true),
        ("GFLOP/s", true),
        ("Of its roof", true),
        ("Regime", false),
        ("Type", false),
        ("Kernel time", true),
        ("Confidence", false),
    ];
    let rows: Vec<Vec<String>> = roof
        .kernels
        .iter()
        .map(|point| {
            vec![
                shorten(&point.name, 80),
                decimal(point.ai, 2),
                decimal(point.achieved_flops_per_s / 1e9, 1),
                or_dash(point.pct_of_roof, percent),
                point.bottleneck_class.clone(),
                point.fp_type.clone(),
                percent(point.duration_pct),
                point.confidence.clone(),
            ]
        })
        .collect();
    table::whole(page, "The points of the chart", &columns, &rows, roof.kernels_total);
    for skipped in &roof.skipped {
        page.prose(
            "p",
            &[("class", "more")],
            &format!("No point for {}: {}", shorten(&skipped.name, 80), skipped.reason),
        );
    }
}

fn chart(page: &mut Html, report: &Report, roof: &Roofline) {
    let peaks = ceilings(roof);
    let axes = Axes::of(roof, &peaks);
    page.open(
        "svg",
        &[
            ("id", "rf-svg"),
            ("viewBox", "0 0 880 420"),
            ("role", "img"),
            ("aria-label", "Roofline"),
            ("data-zoom", ""),
            ("tabindex", "0"),
        ],
    )
    .leaf("title", &[], "Roofline")
    .leaf(
        "desc",
        &[],
        "Operations per second over operations per byte, both logarithmic; the table below has the numbers",
    );
    let (right, top) = (LEFT + WIDTH, BOTTOM - HEIGHT);
    let mut decade = axes.x0;
    while decade <= axes.x1 {
        let x = coordinate(axes.x(10_f64.powf(decade)));
        line(page, "rf-grid", &x, &coordinate(top), &x, &coordinate(BOTTOM));
        let label = format!("{}", 10_f64.powf(decade));
        page.leaf("text", &[("x", &x), ("y", "388"), ("text-anchor", "middle")], &label);
        decade += 1.0;
    }
    decade = axes.y0;
    while decade <= axes.y1 {
        let y = coordinate(axes.y(10_f64.powf(decade)));
        line(page, "rf-grid", &coordinate(LEFT), &y, &coordinate(right), &y);
        page.leaf("text", &[("x", "64"), ("y", &y), ("text-anchor", "end")], &power(decade));
        decade += 1.0;
    }
    line(page, "rf-axis", &coordinate(LEFT), &coordinate(BOTTOM), &coordinate(right), &coordinate(BOTTOM));
    line(page, "rf-axis", &coordinate(LEFT), &coordinate(top), &coordinate(LEFT), &coordinate(BOTTOM));
    page.leaf("text", &[("x", "465"), ("y", "410"), ("text-anchor", "middle")], "FLOP per byte");
    roofs(page, roof, &peaks, &axes);
    for point in roof.kernels.iter().filter(|point| point.ai > 0.0 && point.achieved_flops_per_s > 0.0) {
        mark(page, report, point, &axes);
    }
    page.close("svg");
}

fn line(page: &mut Html, class: &str, x1: &str, y1: &str, x2: &str, y2: &str) {
    page.open("line", &[("class", class), ("x1", x1), ("y1", y1), ("x2", x2), ("y2", y2)]).close("line");
}

/// `1 TF/s` for 12.
fn power(decade: f64) -> String {
    match decade {
        at if at >= 15.0 => format!("{} PF/s", 10_f64.powf(at - 15.0)),
        at if at >= 12.0 => format!("{} TF/s", 10_f64.powf(at - 12.0)),
        at if at >= 9.0 => format!("{} GF/s", 10_f64.powf(at - 9.0)),
        at if at >= 6.0 => format!("{} MF/s", 10_f64.powf(at - 6.0)),
        at => format!("{} F/s", 10_f64.powf(at)),
    }
}

fn roofs(page: &mut Html, roof: &Roofline, peaks: &[(String, f64)], axes: &Axes) {
    let Some(bandwidth) = roof.hbm_bandwidth_bytes_per_s.filter(|bandwidth| *bandwidth > 0.0) else { return };
    let Some((_, highest)) = peaks.last() else { return };
    let dominant =
        |label: &str| roof.dtype.as_deref().is_some_and(|kind| label.split(", ").any(|part| part == kind));
    let right = coordinate(LEFT + WIDTH);
    // The diagonal enters at the left edge, or at the bottom when the memory roof is below the plot there.
    let entry = 10_f64.powf(axes.x0).max(10_f64.powf(axes.y0) / bandwidth);
    line(
        page,
        "rf-roof dom",
        &coordinate(axes.x(entry)),
        &coordinate(axes.y(entry * bandwidth)),
        &coordinate(axes.x(highest / bandwidth)),
        &coordinate(axes.y(*highest)),
    );
    for (label, peak) in peaks {
        let class = if dominant(label) { "rf-roof dom" } else { "rf-roof" };
        let y = coordinate(axes.y(*peak));
        line(page, class, &coordinate(axes.x(peak / bandwidth)), &y, &right, &y);
        let above = coordinate(axes.y(*peak) - 5.0);
        page.leaf("text", &[("x", &right), ("y", &above), ("text-anchor", "end")], label);
    }
    let Some((_, peak)) = peaks.iter().find(|(label, _)| dominant(label)) else { return };
    let (x, y) = (axes.x(peak / bandwidth), axes.y(*peak));
    page.open("circle", &[("class", "rf-ring"), ("cx", &coordinate(x)), ("cy", &coordinate(y)), ("r", "7")])
        .close("circle");
    let label = format!(
        "{} · {} TF/s · {} TB/s · ridge @ {} FLOPs/B",
        roof.arch.as_deref().unwrap_or("unknown GPU"),
        decimal(peak / 1e12, 1),
        decimal(bandwidth / 1e12, 1),
        decimal(peak / bandwidth, 1)
    );
    page.leaf("text", &[("class", "strong"), ("x", "80"), ("y", "34")], &label);
}

fn mark(page: &mut Html, report: &Report, point: &RooflinePoint, axes: &Axes) {
    let (x, y) = (axes.x(point.ai), axes.y(point.achieved_flops_per_s));
    let above = point.roof_flops_per_s.is_some_and(|roof| point.achieved_flops_per_s > roof);
    let hollow = if point.confidence == "low" || above { " rf-hollow" } else { "" };
    let class = format!("rf-pt rf-{}{hollow}", point.bottleneck_class);
    let tip = format!(
        "{}\n{} FLOP/byte, {} GFLOP/s{}\n{} ({})",
        shorten(&point.name, 80),
        decimal(point.ai, 2),
        decimal(point.achieved_flops_per_s / 1e9, 1),
        point.pct_of_roof.map(|share| format!(", {} of its roof", percent(share))).unwrap_or_default(),
        point.bottleneck_class,
        point.fp_type
    );
    let jump = jump_target(report, &point.name, &point.slug);
    let mut attributes =
        vec![("class", class.as_str()), ("data-tip", tip.as_str()), ("tabindex", "0"), ("role", "link")];
    if let Some(target) = &jump {
        attributes.push(("data-jump", target));
    }
    let (a, b) = (coordinate(x), coordinate(y));
    let square = (coordinate(x - 5.5), coordinate(y - 5.5));
    let diamond = format!(
        "{},{} {},{} {},{} {},{}",
        coordinate(x),
        coordinate(y - 7.5),
        coordinate(x + 7.5),
        coordinate(y),
        coordinate(x),
        coordinate(y + 7.5),
        coordinate(x - 7.5),
        coordinate(y)
    );
    let triangle = format!(
        "{},{} {},{} {},{}",
        coordinate(x),
        coordinate(y - 7.0),
        coordinate(x + 6.5),
        coordinate(y + 5.0),
        coordinate(x - 6.5),
        coordinate(y + 5.0)
    );
    let tag = match point.bottleneck_class.as_str() {
        "compute" => {
            attributes.extend([("cx", a.as_str()), ("cy", b.as_str()), ("r", "6")]);
            "circle"
        }
        "memory" => {
            attributes.extend([
                ("x", square.0.as_str()),
                ("y", square.1.as_str()),
                ("width", "11"),
                ("height", "11"),
            ]);
            "rect"
        }
        "balanced" => {
            attributes.push(("points", &diamond));
            "polygon"
        }
        _ => {
            attributes.push(("points", &triangle));
            "polygon"
        }
    };
    page.open(tag, &attributes).close(tag);
    if above {
        page.leaf(
            "text",
            &[("class", "strong"), ("x", &coordinate(x + 9.0)), ("y", &coordinate(y - 6.0))],
            "!",
        );
    }
}

/// Stall categories in stacking order: key, class, label.
const STALLS: [(&str, &str); 6] = [
    ("att_vmem_latency", "c-vmem"),
    ("att_lds_conflict", "c-lds"),
    ("att_dependency_chain", "c-dep"),
    ("att_divergence", "c-div"),
    ("att_barrier", "c-bar"),
    ("att_other", "c-other"),
];
/// Name column of the flame graph, its bar width, and its rows.
const GUTTER: f64 = 168.0;
const BAR: f64 = 784.0;
const FLAME_ROWS: usize = 50;

pub(super) fn thread_trace(page: &mut Html, report: &Report) {
    let Some(trace) = &report.thread_trace else { return };
    if !trace.has_att_data {
        page.prose(
            "p",
            &[],
            &format!("Thread trace not usable: {}.", trace.reason.as_deref().unwrap_or("unknown")),
        );
        return;
    }
    page.open("div", &[("class", "kpis")]);
    for (label, value) in [
        ("Kernels Traced", trace.summary.kernel_count),
        ("High-Stall Kernels", trace.summary.high_stall_kernels),
    ] {
        page.open("div", &[("class", "kpi")])
            .leaf("div", &[("class", "k")], label)
            .leaf("div", &[("class", "v")], &count(value))
            .close("div");
    }
    page.close("div");
    let columns: [Column<'_>; 5] = [
        ("Kernel", false),
        ("Stall", true),
        ("Category", false),
        ("Instruction that stalls most", false),
        ("Source", false),
    ];
    let rows: Vec<Vec<String>> = trace
        .kernels
        .iter()
        .map(|kernel| {
            let top = kernel.top_stalling_instructions.first();
            vec![
                shorten(&kernel.name, 80),
                percent(kernel.stall_pct),
                kernel.stall_category.as_deref().map_or("–", text::stall_label).to_owned(),
                or_dash(top, |row| format!("{} ({})", row.instruction, decimal(row.stall_ratio, 2))),
                or_dash(top.and_then(|row| row.source_line.clone()), |place| place),
            ]
        })
        .collect();
    table::whole(page, "Stall cycles in percent of latency cycles", &columns, &rows, trace.kernels_total);
    flame(page, report, trace);
    for skipped in &trace.summary.files_skipped {
        page.prose("p", &[("class", "more")], &format!("Skipped {}: {}", skipped.file, skipped.reason));
    }
}

fn flame(page: &mut Html, report: &Report, trace: &ThreadTrace) {
    let shown: Vec<_> =
        trace.kernels.iter().filter(|kernel| kernel.total_stall_cycles > 0).take(FLAME_ROWS).collect();
    let Some(largest) = shown.iter().map(|kernel| kernel.total_stall_cycles).max() else { return };
    let height = 44 + 30 * shown.len();
    page.open("div", &[("class", "att-flame")]).open(
        "svg",
        &[
            ("class", "att-flame-svg"),
            ("id", "att-flame-svg"),
            ("viewBox", &format!("0 0 960 {height}")),
            ("role", "img"),
            ("aria-label", "Stall cycles by kernel and category"),
            ("data-zoom", ""),
            ("tabindex", "0"),
        ],
    );
    page.leaf("title", &[], "Stall cycles by kernel and category").leaf(
        "desc",
        &[],
        &format!(
            "{}, widest first; the table above has the numbers",
            counted(shown.len() as u64, "kernel", "kernels")
        ),
    );
    for (row, kernel) in shown.iter().enumerate() {
        let y = 22.0 + 30.0 * row as f64;
        page.leaf(
            "text",
            &[("x", "160"), ("y", &coordinate(y + 16.0)), ("text-anchor", "end")],
            &shorten(&kernel.name, 24),
        );
        let jump = jump_target(report, &kernel.name, &kernel.slug);
        let mut x = GUTTER;
        for (key, class) in STALLS {
            let Some(part) = kernel.categories.get(key).filter(|part| part.stall_cycles > 0) else {
                continue;
            };
            let width = BAR * part.stall_cycles as f64 / largest as f64;
            let label = text::stall_label(key);
            let share = part.stall_cycles as f64 * 100.0 / kernel.total_stall_cycles as f64;
            let tip = format!(
                "{}\n{label}: {} cycles, {} of its stall",
                shorten(&kernel.name, 80),
                count(part.stall_cycles),
                percent(share)
            );
            let class = format!("att-flame-rect {class}");
            let (left, top, wide) = (coordinate(x), coordinate(y), coordinate(width));
            let mut attributes = vec![
                ("class", class.as_str()),
                ("data-k", kernel.slug.as_str()),
                ("data-cat", key),
                ("data-tip", tip.as_str()),
                ("x", left.as_str()),
                ("y", top.as_str()),
                ("width", wide.as_str()),
                ("height", "24"),
                ("tabindex", "0"),
            ];
            if let Some(target) = &jump {
                attributes.push(("data-jump", target));
            }
            page.open("rect", &attributes).leaf("title", &[], &tip).close("rect");
            if width > 80.0 {
                page.leaf(
                    "text",
                    &[("class", "on"), ("x", &coordinate(x + 6.0)), ("y", &coordinate(y + 16.0))],
                    &format!("{label} {}", percent(share)),
                );
            }
            x += width;
        }
    }
    page.close("svg").close("div");
    page.open("p", &[("class", "more")])
        .leaf(
            "button",
            &[("type", "button"), ("class", "no-js-hide"), ("data-reset", "att-flame-svg")],
            "Reset view",
        )
        .close("p");
}

#[cfg(test)]
mod tests {
    use perfxpert_schemas::report::hardware::{Peaks, Ridge};

    use super::*;

    fn point(name: &str, ai: f64, rate: f64) -> RooflinePoint {
        RooflinePoint {
            name: name.to_owned(),
            slug: name.to_owned(),
            ai,
            achieved_flops_per_s: rate,
            flops: rate,
            bytes: 1,
            duration_ns: 1,
            duration_pct: 50.0,
            fp_type: "bf16".to_owned(),
            bottleneck_class: "memory".to_owned(),
            roof_flops_per_s: None,
            pct_of_roof: None,
            confidence: "high".to_owned(),
        }
    }

    #[test]
    fn the_mi300x_chart_has_its_points_and_roofs_where_they_belong() {
        let roof = Roofline {
            schema_version: "0.3.4".to_owned(),
            arch: Some("gfx942".to_owned()),
            arch_peaks: Some(Peaks {
                fp64: Some(8.17152e13),
                fp32: Some(1.634304e14),
                fp16: Some(1.3074432e15),
                bf16: Some(1.3074432e15),
                fp8: Some(2.6148864e15),
                int8: Some(2.6148864e15),
            }),
            hbm_bandwidth_bytes_per_s: Some(5.3248e12),
            dtype: Some("bf16".to_owned()),
            dtype_confidence: None,
            kernels: vec![point("gemm_bf16_kernel", 48.2, 1.12e14), point("stream_triad", 0.25, 1.1e12)],
            kernels_total: 2,
            ridge_point: Some(Ridge { ai: 245.5, flops_per_s: 1.3074432e15 }),
            ridge_points: None,
            skipped: vec![],
            skipped_total: 0,
        };
        let peaks = ceilings(&roof);
        assert_eq!(
            peaks.iter().map(|(label, _)| label.as_str()).collect::<Vec<_>>(),
            ["fp64", "fp32", "fp16, bf16", "fp8, int8"]
        );
        let axes = Axes::of(&roof, &peaks);
        assert_eq!(axes, Axes { x0: -1.0, x1: 3.0, y0: 11.0, y1: 16.0 });
        let at = |ai: f64, rate: f64| (coordinate(axes.x(ai)), coordinate(axes.y(rate)));
        assert_eq!(at(48.2, 1.12e14), ("599.9".to_owned(), "156.6".to_owned()));
        assert_eq!(at(0.25, 1.1e12), ("148.6".to_owned(), "297.1".to_owned()));
        let heights: Vec<String> = peaks.iter().map(|(_, peak)| coordinate(axes.y(*peak))).collect();
        assert_eq!(heights, ["166.1", "145.1", "81.9", "60.8"]);
        let ridges: Vec<String> =
            peaks.iter().map(|(_, peak)| coordinate(axes.x(peak / 5.3248e12))).collect();
        assert_eq!(ridges, ["501.7", "561.2", "739.5", "799.0"]);
        assert_eq!(
            (coordinate(axes.x(0.1)), coordinate(axes.y(0.1 * 5.3248e12))),
            ("70.0".to_owned(), "319.2".to_owned())
        );
    }
}
