//! The one ordered list of sections that every rendering follows.

use perfxpert_schemas::report::Report;

/// A section of the report. Each renderer matches on every member, so a missing one does not compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Section {
    /// Title block.
    Overview,
    /// Verdict, narrative, warnings.
    Summary,
    /// Where the time went.
    Execution,
    /// Kernels by time.
    Hotspots,
    /// Registers, LDS, occupancy.
    KernelResources,
    /// Copies.
    Memory,
    /// Host calls.
    ApiOverhead,
    /// Gaps.
    Timeline,
    /// Kernel time by kind.
    KernelCategories,
    /// Short kernels.
    ShortKernels,
    /// Counter metrics.
    Counters,
    /// Roofline.
    Roofline,
    /// Thread trace.
    ThreadTrace,
    /// Collectives.
    Communication,
    /// Monitor log.
    GpuMonitor,
    /// What is wrong with the trace.
    TraceHealth,
    /// Things to do.
    Recommendations,
    /// Source scan.
    Tier0,
    /// Against the baseline.
    TraceDiff,
    /// Versions.
    Footer,
}

impl Section {
    /// All sections in order.
    pub const ALL: [Self; 20] = [
        Self::Overview,
        Self::Summary,
        Self::Execution,
        Self::Hotspots,
        Self::KernelResources,
        Self::Memory,
        Self::ApiOverhead,
        Self::Timeline,
        Self::KernelCategories,
        Self::ShortKernels,
        Self::Counters,
        Self::Roofline,
        Self::ThreadTrace,
        Self::Communication,
        Self::GpuMonitor,
        Self::TraceHealth,
        Self::Recommendations,
        Self::Tier0,
        Self::TraceDiff,
        Self::Footer,
    ];

    /// Element id in the HTML page.
    pub fn id(self) -> &'static str {
        match self {
            Self::Overview => "overview",
            Self::Summary => "agentic-narrative",
            Self::Execution => "execution",
            Self::Hotspots => "hotspots",
            Self::KernelResources => "kernel-resources",
            Self::Memory => "memory",
            Self::ApiOverhead => "api-overhead",
            Self::Timeline => "timeline",
            Self::KernelCategories => "kernel-categories",
            Self::ShortKernels => "short-kernels",
            Self::Counters => "counters",
            Self::Roofline => "roofline",
            Self::ThreadTrace => "thread-trace",
            Self::Communication => "communication",
            Self::GpuMonitor => "gpu-monitor",
            Self::TraceHealth => "trace-health",
            Self::Recommendations => "recommendations",
            Self::Tier0 => "tier0-scan",
            Self::TraceDiff => "trace-diff",
            Self::Footer => "report-footer",
        }
    }

    /// Heading in the HTML page.
    pub fn title(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Summary => "Summary",
            Self::Execution => "Execution Breakdown",
            Self::Hotspots => "Top Kernel Hotspots",
            Self::KernelResources => "Kernel Resources",
            Self::Memory => "Memory Transfer Analysis",
            Self::ApiOverhead => "API Overhead",
            Self::Timeline => "Interval Timeline",
            Self::KernelCategories => "Kernel Category Breakdown",
            Self::ShortKernels => "Short Kernel Analysis",
            Self::Counters => "Hardware Counters",
            Self::Roofline => "Live Roofline",
            Self::ThreadTrace => "Thread Trace Analysis",
            Self::Communication => "Communication",
            Self::GpuMonitor => "GPU Runtime Monitor",
            Self::TraceHealth => "Trace Health",
            Self::Recommendations => "Optimization Recommendations",
            Self::Tier0 => "Tier-0 Source Scan",
            Self::TraceDiff => "Changed vs baseline",
            Self::Footer => "footer",
        }
    }

    /// Heading in markdown.
    pub fn markdown_title(self) -> &'static str {
        match self {
            Self::Execution => "Time Breakdown",
            Self::Memory => "Memory Copy Analysis",
            Self::Counters => "Hardware Counters (Tier 2)",
            Self::Recommendations => "Recommendations",
            Self::Tier0 => "Tier 0 — Source Scan",
            other => other.title(),
        }
    }

    /// Banner in the text report; the title block, the scan and the footer have their own forms.
    pub fn banner(self) -> &'static str {
        match self {
            Self::Overview => "PERFXPERT AI PERFORMANCE ANALYSIS",
            Self::Summary => "SUMMARY",
            Self::Execution => "TIME BREAKDOWN",
            Self::Hotspots => "HOTSPOTS",
            Self::KernelResources => "KERNEL RESOURCES",
            Self::Memory => "MEMORY COPY ANALYSIS",
            Self::ApiOverhead => "API OVERHEAD",
            Self::Timeline => "INTERVAL TIMELINE",
            Self::KernelCategories => "KERNEL CATEGORY BREAKDOWN",
            Self::ShortKernels => "SHORT KERNEL ANALYSIS",
            Self::Counters => "HARDWARE COUNTERS (TIER 2)",
            Self::Roofline => "LIVE ROOFLINE",
            Self::ThreadTrace => "TIER 3: ADVANCED THREAD TRACE (ATT)",
            Self::Communication => "COMMUNICATION",
            Self::GpuMonitor => "GPU RUNTIME MONITOR",
            Self::TraceHealth => "TRACE HEALTH",
            Self::Recommendations => "RECOMMENDATIONS",
            Self::Tier0 => "TIER-0: SOURCE SCAN",
            Self::TraceDiff => "CHANGED VS BASELINE",
            Self::Footer => "",
        }
    }

    /// Whether the report has this section; the same answer for every format.
    pub fn present(self, report: &Report) -> bool {
        let database = report.execution_breakdown.is_some();
        // A trace with host calls but no GPU event shows the verdict, the health and nothing to measure.
        let measured = database && (report.profiling_info.dispatches > 0 || report.profiling_info.copies > 0);
        match self {
            Self::Overview | Self::Summary | Self::Recommendations | Self::Footer => true,
            Self::Execution
            | Self::Hotspots
            | Self::KernelResources
            | Self::Memory
            | Self::ApiOverhead
            | Self::Timeline
            | Self::KernelCategories
            | Self::ShortKernels
            | Self::Counters => measured,
            Self::Roofline => report.roofline.is_some(),
            Self::ThreadTrace => report.thread_trace.is_some(),
            Self::Communication => report.communication.is_some(),
            Self::GpuMonitor => report.gpu_monitor.is_some(),
            Self::TraceHealth => report.trace_health.is_some(),
            Self::Tier0 => report.tier0_findings.is_some(),
            Self::TraceDiff => report.trace_diff.is_some(),
        }
    }
}
