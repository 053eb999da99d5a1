//! Which GPUs this machine has, from the ROCm programs and the kernel driver; for people, never for analysis.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::environment::Environment;
use crate::failure::Failure;
use crate::program;

/// Where ROCm installs its programs.
const ROCM: [&str; 1] = ["/opt/rocm/bin"];
/// The kernel driver's topology.
const TOPOLOGY: &str = "/sys/class/kfd/kfd/topology/nodes";

/// One GPU, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gpu {
    /// Such as `gfx942`.
    pub gfx_id: Option<String>,
    /// Such as `MI300X`.
    pub product: Option<String>,
    /// Compute units.
    pub cu_count: Option<u64>,
}

impl Gpu {
    fn is_whole(&self) -> bool {
        self.gfx_id.is_some() && self.product.is_some() && self.cu_count.is_some()
    }

    /// `gfx942 (MI300X, 304 CU)`.
    pub fn shown(&self) -> String {
        let units = self.cu_count.map(|count| format!("{count} CU"));
        let inner: Vec<String> = self.product.clone().into_iter().chain(units).collect();
        let name = self.gfx_id.as_deref().unwrap_or("unknown");
        if inner.is_empty() { name.to_owned() } else { format!("{name} ({})", inner.join(", ")) }
    }
}

/// Groups of equal GPUs in device order: count and model.
pub fn groups(gpus: &[Gpu]) -> Vec<(usize, Gpu)> {
    let mut groups: Vec<(usize, Gpu)> = Vec::new();
    for gpu in gpus {
        match groups.iter_mut().find(|(_, known)| known == gpu) {
            Some((count, _)) => *count += 1,
            None => groups.push((1, gpu.clone())),
        }
    }
    groups
}

/// `8 x gfx942 (MI300X, 304 CU)`, or without the count for one.
pub fn shown(count: usize, gpu: &Gpu) -> String {
    if count == 1 { gpu.shown() } else { format!("{count} x {}", gpu.shown()) }
}

/// The GPUs of this machine; `None` when looking is switched off.
///
/// # Errors
/// `usage` for a bad variable.
pub fn discover(environment: &Environment) -> Result<Option<Vec<Gpu>>, Failure> {
    if environment.boolean("PERFXPERT_DISABLE_RUNTIME_GPU_SPECS")? == Some(true) {
        return Ok(None);
    }
    let seconds =
        environment.number("PERFXPERT_GPU_DISCOVERY_TIMEOUT", 0.1..=60.0, "a number of seconds such as 5")?;
    let limit = Duration::from_secs_f64(seconds.unwrap_or(5.0));
    let run = |name: &str, arguments: &[&str]| {
        program::find(name, environment, &ROCM)
            .and_then(|program| program::output(&program, arguments, limit))
    };
    let mut gpus = Vec::new();
    let sources: [&dyn Fn() -> Vec<Gpu>; 4] = [
        &|| run("rocminfo", &[]).map(|text| of_rocminfo(&text)).unwrap_or_default(),
        &|| {
            run("rocm-smi", &["--showproductname", "--json"])
                .map(|text| of_rocm_smi(&text))
                .unwrap_or_default()
        },
        &|| run("amd-smi", &["static", "--asic", "--json"]).map(|text| of_amd_smi(&text)).unwrap_or_default(),
        &|| of_topology(Path::new(TOPOLOGY)),
    ];
    for source in sources {
        if !gpus.is_empty() && gpus.iter().all(Gpu::is_whole) {
            break;
        }
        merge(&mut gpus, source());
    }
    Ok(Some(gpus))
}

/// First value per field wins; sources that count differently do not speak of the same devices.
fn merge(gpus: &mut Vec<Gpu>, found: Vec<Gpu>) {
    if gpus.is_empty() {
        *gpus = found;
    } else if gpus.len() == found.len() {
        for (gpu, more) in gpus.iter_mut().zip(found) {
            gpu.gfx_id = gpu.gfx_id.take().or(more.gfx_id);
            gpu.product = gpu.product.take().or(more.product);
            gpu.cu_count = gpu.cu_count.or(more.cu_count);
        }
    }
}

/// `AMD Instinct MI300X OAM` → `MI300X`.
fn product(name: &str) -> Option<String> {
    let mut name = name.trim();
    for maker in ["AMD ", "Instinct ", "Radeon "] {
        name = name.strip_prefix(maker).unwrap_or(name);
    }
    let name = name.strip_suffix(" OAM").unwrap_or(name).trim();
    let known = !name.is_empty() && name != "N/A" && !name.starts_with("0x") && !name.starts_with("gfx");
    known.then(|| name.to_owned())
}

/// `gfx942:sramecc+:xnack-` → `gfx942`.
fn gfx(id: &str) -> Option<String> {
    let id = id.trim().to_ascii_lowercase();
    let id = id.split(':').next().unwrap_or_default();
    (id.starts_with("gfx") && id.len() > 3 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()))
        .then(|| id.to_owned())
}

fn of_rocminfo(text: &str) -> Vec<Gpu> {
    let mut gpus = Vec::new();
    let mut agent = Gpu::default();
    let mut is_gpu = false;
    let mut finish = |agent: &mut Gpu, is_gpu: &mut bool| {
        let done = std::mem::take(agent);
        if std::mem::take(is_gpu) {
            gpus.push(done);
        }
    };
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with("Agent ") {
            finish(&mut agent, &mut is_gpu);
        }
        let Some((key, value)) = line.split_once(':') else { continue };
        let value = value.trim();
        match key.trim() {
            "Name" if agent.gfx_id.is_none() => agent.gfx_id = gfx(value),
            "Marketing Name" => agent.product = agent.product.take().or_else(|| product(value)),
            "Device Type" => is_gpu = value == "GPU",
            "Compute Unit" => agent.cu_count = value.parse().ok().filter(|count| *count > 0),
            _ => {}
        }
    }
    finish(&mut agent, &mut is_gpu);
    gpus
}

fn of_rocm_smi(text: &str) -> Vec<Gpu> {
    let Ok(Value::Object(cards)) = serde_json::from_str::<Value>(text) else { return Vec::new() };
    let mut rows: Vec<(u64, Gpu)> = Vec::new();
    for (card, fields) in &cards {
        let Some(index) = card.strip_prefix("card").and_then(|number| number.parse().ok()) else { continue };
        let field = |names: &[&str]| {
            names.iter().find_map(|name| fields.get(*name).and_then(Value::as_str)).unwrap_or_default()
        };
        let name = product(field(&["Card Series", "Card series"]))
            .or_else(|| product(field(&["Card Model", "Card model"])));
        rows.push((
            index,
            Gpu { gfx_id: gfx(field(&["GFX Version", "GFX version"])), product: name, cu_count: None },
        ));
    }
    rows.sort_by_key(|(index, _)| *index);
    rows.into_iter().map(|(_, gpu)| gpu).collect()
}

fn of_amd_smi(text: &str) -> Vec<Gpu> {
    let Ok(value) = serde_json::from_str::<Value>(text) else { return Vec::new() };
    let rows = value.get("gpu_data").unwrap_or(&value).as_array().cloned().unwrap_or_default();
    let gpu = |row: &Value| {
        let asic = row.get("asic")?;
        let text = |name: &str| asic.get(name).and_then(Value::as_str).unwrap_or_default();
        Some(Gpu {
            gfx_id: gfx(text("target_graphics_version")),
            product: product(text("market_name")),
            cu_count: asic.get("num_compute_units").and_then(Value::as_u64).filter(|count| *count > 0),
        })
    };
    rows.iter().filter_map(gpu).collect()
}

fn of_topology(nodes: &Path) -> Vec<Gpu> {
    let Ok(listing) = std::fs::read_dir(nodes) else { return Vec::new() };
    let mut numbers: Vec<u64> =
        listing.flatten().filter_map(|node| node.file_name().to_str()?.parse().ok()).collect();
    numbers.sort_unstable();
    let node = |number: u64| {
        let folder = nodes.join(number.to_string());
        let text = std::fs::read_to_string(folder.join("properties")).ok()?;
        let field = |name: &str| {
            text.lines()
                .find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse::<u64>().ok())
        };
        let version = field("gfx_target_version").filter(|version| *version > 0)?;
        let units = match (field("simd_count"), field("simd_per_cu")) {
            (Some(simds), Some(per_cu @ 1..)) => Some(simds / per_cu),
            _ => None,
        };
        // 90402 is gfx942, 90010 is gfx90a: the last two places are hexadecimal digits.
        let (major, minor, step) = (version / 10_000, version / 100 % 100, version % 100);
        Some(Gpu {
            gfx_id: Some(format!("gfx{major}{minor:x}{step:x}")),
            product: None,
            cu_count: units.filter(|units| *units > 0),
        })
    };
    numbers.into_iter().filter_map(node).collect()
}

#[cfg(test)]
mod tests;
