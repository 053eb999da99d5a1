//! Reads logs of amd-smi and rocm-smi into samples: banners, several documents after each other, a cut-off end.

use serde_json::Value;

mod amd;
mod document;
mod quantity;
mod rocm;

use document::Documents;

/// Which tool wrote a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// `amd-smi metric --json` or `amd-smi monitor --json`.
    AmdSmi,
    /// `rocm-smi … --json`.
    RocmSmi,
}

impl Source {
    /// The tool's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AmdSmi => "amd-smi",
            Self::RocmSmi => "rocm-smi",
        }
    }
}

/// One reading of one GPU; `None` = not in the log.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sample {
    /// Index of the GPU.
    pub gpu_id: i64,
    /// Edge sensor, °C.
    pub edge_c: Option<f64>,
    /// Junction (hotspot) sensor, °C.
    pub junction_c: Option<f64>,
    /// Memory sensor, °C.
    pub memory_c: Option<f64>,
    /// Power, W.
    pub power_w: Option<f64>,
    /// Core clock, MHz.
    pub core_mhz: Option<f64>,
    /// Memory clock, MHz.
    pub memory_mhz: Option<f64>,
    /// Activity, percent.
    pub busy_pct: Option<f64>,
    /// The GPU said that it throttles.
    pub throttled: Option<bool>,
    /// Seconds.
    pub timestamp_s: Option<f64>,
}

impl Sample {
    /// Whether anything was measured.
    pub fn is_empty(&self) -> bool {
        let numbers = [
            self.edge_c,
            self.junction_c,
            self.memory_c,
            self.power_w,
            self.core_mhz,
            self.memory_mhz,
            self.busy_pct,
        ];
        numbers.iter().all(Option::is_none) && self.throttled.is_none()
    }
}

/// What a log holds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Log {
    /// Samples in log order.
    pub samples: Vec<Sample>,
    /// The last document is incomplete and was dropped.
    pub cut_off: bool,
    /// Entries whose GPU id is no integer; they were skipped.
    pub bad_gpu_ids: usize,
}

/// Why a log says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// Neither an object nor a list begins anywhere.
    #[error("it holds no JSON")]
    NoJson,
    /// The first document is broken or cut off.
    #[error("its JSON is broken near byte {0}")]
    Broken(usize),
}

/// Samples of one document, and entries whose id is no integer.
#[derive(Default)]
struct Found {
    samples: Vec<Sample>,
    bad_gpu_ids: usize,
}

/// Reads a whole log.
///
/// # Errors
/// [`Unreadable`] when not even the first document can be read.
pub fn read(text: &[u8], source: Source) -> Result<Log, Unreadable> {
    let mut log = Log::default();
    let mut documents = Documents::new(text);
    let mut first = true;
    loop {
        let mut found = Found::default();
        let collected = documents.next_with(|value| match source {
            Source::AmdSmi => amd::collect(value, &mut found),
            Source::RocmSmi => rocm::collect(value, &mut found),
        });
        match collected {
            Ok(true) => {
                log.samples.append(&mut found.samples);
                log.bad_gpu_ids += found.bad_gpu_ids;
            }
            Ok(false) if first => return Err(Unreadable::NoJson),
            Ok(false) => return Ok(log),
            Err(at) if first => return Err(Unreadable::Broken(at)),
            Err(_) => {
                log.cut_off = true;
                return Ok(log);
            }
        }
        first = false;
    }
}

/// Which tool wrote a log: rocm-smi when the first document has a key such as `card0`.
///
/// # Errors
/// [`Unreadable`] when there is no whole first document.
pub fn source(text: &[u8]) -> Result<Source, Unreadable> {
    let mut has_card = false;
    let found = Documents::new(text).next_with(|value| has_card |= rocm::has_card(value));
    match found {
        Ok(true) if has_card => Ok(Source::RocmSmi),
        Ok(true) => Ok(Source::AmdSmi),
        Ok(false) => Err(Unreadable::NoJson),
        Err(at) => Err(Unreadable::Broken(at)),
    }
}

/// A key of an object, whatever its case; keys of these logs differ in case between versions.
fn lookup<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    value.as_object()?.iter().find(|(name, _)| name.eq_ignore_ascii_case(key)).map(|(_, value)| value)
}

#[cfg(test)]
mod tests;
